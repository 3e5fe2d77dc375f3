package preview_test

import (
	"errors"
	"strings"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/crawler/preview"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
)

func options(seed weburl.URL) crawler.Options {
	return crawler.Options{Seed: seed, Fetch: fetch.Options{AllowHost: seed.Hostname()}}
}

func TestWhatACrawlWouldBeLetDo(t *testing.T) {
	t.Parallel()
	const home = "-- / --\n<title>Home</title><a href=/a>a</a> <a href=/b>b</a>\n"
	for says, c := range map[string]struct {
		site          string
		refused       bool
		verdict       string
		closed, urls  int
		failed, title string
	}{
		"no robots.txt": {home, false, "", 0, 1, "", "Home"},
		"a part is closed": {home + "-- /robots.txt --\nUser-agent: *\nDisallow: /private/\n", false, "", 1,
			1, "", "Home"},
		"all is closed": {home + "-- /robots.txt --\nUser-agent: *\nDisallow: /\n", true,
			"line 2", 1, 0, "", ""},
		"a sitemap of two pages": {home + "-- /robots.txt --\nSitemap: /sitemap.xml\n-- /sitemap.xml --\n<urlset><url><loc>ORIGIN/a</loc></url><url><loc>ORIGIN/b</loc></url></urlset>\n", false, "", 0, 3, "", "Home"},
		"a seed that is gone":    {"-- /other --\nx\n", false, "", 0, 1, "404", "404"},
	} {
		s, seed := crawltest.Site(t, c.site)
		if strings.Contains(c.site, "ORIGIN") {
			if err := s.Set("/sitemap.xml", strings.ReplaceAll("<urlset><url><loc>ORIGIN/a</loc></url><url><loc>ORIGIN/b</loc></url></urlset>", "ORIGIN", s.Origin)); err != nil {
				t.Fatal(err)
			}
			if err := s.Set("/robots.txt", "Sitemap: "+s.Origin+"/sitemap.xml\n"); err != nil {
				t.Fatal(err)
			}
		}
		p, err := preview.Of(t.Context(), options(seed))
		if err != nil {
			t.Fatal(err)
		}
		front := preview.Front{}
		if p.Front != nil {
			front = *p.Front
		}
		if (p.Refused != "") != c.refused || !strings.Contains(p.Verdict, c.verdict) || len(p.Closed) != c.closed ||
			!c.refused && p.URLs != c.urls ||
			front.Title != c.title || !strings.Contains(front.Failed, c.failed) {
			t.Errorf("%s: %+v %+v", says, p, front)
		}
	}
}

func TestOnePage(t *testing.T) {
	t.Parallel()
	s, seed := crawltest.Site(t, "-- / --\nHome\n-- /moved --\nHTTP 302\nLocation: /\n\n-- /to-private --\nHTTP 302\nLocation: /private\n\n-- /loop --\nHTTP 302\nLocation: /loop\n\n"+
		"-- /private --\nx\n-- /robots.txt --\nUser-agent: *\nDisallow: /private\n")
	for path, want := range map[string]string{
		"/": "Home", "/moved": "Home", "/private": "denied", "/to-private": "denied", "/loop": "more than",
		"/nothing": "404",
	} {
		page, err := preview.FetchPage(t.Context(), weburl.MustParse(s.Origin+path), options(seed))
		_, denied := errors.AsType[*preview.DeniedError](err)
		switch {
		case denied && want == "denied", err != nil && strings.Contains(err.Error(), want):
		case err == nil && (strings.Contains(string(page.Body), want) || want == "404" && page.Status == 404):
		default:
			t.Errorf("%s: %+v %v, want %s", path, page, err, want)
		}
	}
}
