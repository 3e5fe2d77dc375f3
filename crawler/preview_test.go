package crawler_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"curtsy/crawler/preview"
)

// previewed is the preview of a site whose robots.txt names sitemaps.
func previewed(t *testing.T, s *site, robots string, sitemaps ...string) *preview.Preview {
	t.Helper()
	s.set("/robots.txt", text(robots+"\nSitemap: "+strings.Join(sitemaps, "\nSitemap: ")))
	p, err := preview.Of(t.Context(), options(s.URL+"/"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPreviewObeysTheRobotsOfEverySitemap(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/": html(""), "/own.txt": text("ORIGIN/a")})
	open := newSite(t, map[string]page{
		"/robots.txt": text("User-agent: *\nDisallow: /private\nDisallow: /a\nCrawl-delay: 0.001"),
		"/1.txt":      text(s.URL + "/a\n" + s.URL + "/b\n" + s.URL + "/secret\n"), "/2.txt": text(s.URL + "/c"),
		"/private.txt": text(s.URL + "/d"),
	})
	closed := newSite(t, map[string]page{"/robots.txt": text("User-agent: *\nDisallow: /"),
		"/x.txt": text(s.URL + "/x"), "/y.txt": text(s.URL + "/y")})
	broken := newSite(t, map[string]page{"/robots.txt": answering(503), "/z.txt": text(s.URL + "/z")})
	p := previewed(t, s, "User-agent: *\nDisallow: /secret\nDisallow: /own2",
		"/own.txt", "/own2.txt", open.URL+"/1.txt", open.URL+"/private.txt", open.URL+"/2.txt", closed.URL+"/x.txt",
		closed.URL+"/y.txt", broken.URL+"/z.txt")
	same(t, "the site was asked for", s.requests(), []string{"/robots.txt", "/", "/own.txt"})
	same(t, "one that allows for", open.requests(), []string{"/robots.txt", "/1.txt", "/2.txt"})
	same(t, "one that denies for", closed.requests(), []string{"/robots.txt"})
	same(t, "one without rules for", broken.requests(), []string{"/robots.txt"})
	want := map[string]int{"robots.txt: a sitemap": 5, "robots.txt: line 2: Disallow: /secret": 1}
	if p.URLs != 4 || p.Stopped != "" || !maps.Equal(p.LeftOut, want) {
		t.Errorf("%d URLs, left out %v; want the seed, /a, /b and /c, and %v", p.URLs, p.LeftOut, want)
	}
}

func TestPreviewEndsWhereTheSiteFailsAgainAndAgain(t *testing.T) {
	t.Parallel()
	list := func(s *site) (urls []string) {
		for i := range 15 {
			urls = append(urls, fmt.Sprintf("%s/%d.txt", s.URL, i))
			s.set(fmt.Sprintf("/%d.txt", i), answering(503))
		}
		return urls
	}
	s, other := newSite(t, map[string]page{"/last.txt": text("ORIGIN/a")}), newSite(t, map[string]page{})
	const gaveUp, why = "giving up on ", ": 10 failures in a row, the last: HTTP 503"
	p := previewed(t, s, "", append(list(other), s.URL+"/last.txt")...)
	if host := strings.TrimPrefix(other.URL, "http://"); p.Stopped != "" || p.URLs != 2 || len(p.Sitemaps) != 11 ||
		p.LeftOut[gaveUp+host+why] != 5 {
		t.Errorf("another host fails: %+v", p)
	}
	s.forget()
	p = previewed(t, s, "", append(list(s), s.URL+"/last.txt")...)
	if host := strings.TrimPrefix(s.URL, "http://"); p.Stopped != gaveUp+host+why || len(p.Sitemaps) != 10 ||
		s.times("/last.txt") != 0 {
		t.Errorf("the site fails: %+v", p)
	}
}

func TestPreviewOfAPaceOfYearsDoesNotOverflow(t *testing.T) {
	s := newSite(t, map[string]page{"/robots.txt": text("User-agent: *\nCrawl-delay: 99999999999")})
	if p, err := preview.Of(t.Context(), options(s.URL+"/")); err != nil || p.AtLeast.Hours() != 365*24 {
		t.Errorf("%+v, %v", p, err)
	}
}

// A preview tells from one page what the site's host names are, what robots.txt asks for, and what a
// crawl would need.
func TestPreviewOfTheFirstPage(t *testing.T) {
	t.Parallel()
	s := named(t, map[string]map[string]page{
		"http://example.com": {"/": redirect("http://www.example.com/"),
			"/robots.txt": redirect("http://www.example.com/robots.txt")},
		"http://www.example.com": {"/robots.txt": text("User-agent: *\nCrawl-delay: 0.001\nDisallow: /x"),
			"/": html("<div id=root></div><script src=/a.js></script>")},
		"http://away.example":   {"/": redirect("http://other.example/")},
		"http://self.example":   {"/": redirect("/")},
		"http://choice.example": {"/": answering(300)},
	})
	look := func(seed string) *preview.Preview {
		o := options(seed)
		s.reaches(t, &o)
		p, err := preview.Of(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := look("http://example.com/")
	same(t, "names", p.Names, []string{"http://www.example.com", "http://example.com"})
	same(t, "notes", p.Notes, []string{"http://example.com/ redirects to http://www.example.com/: both count as the site"})
	if p.Robots != `answered 200: 1 rule for "*"; Crawl-delay 1ms` || p.Front == nil || p.Front.Status != 200 ||
		len(p.Front.Needs) != 1 || !strings.HasPrefix(p.Front.Needs[0], "scripts") {
		t.Errorf("%+v, %+v", p, p.Front)
	}
	for _, seed := range []string{"http://self.example/", "http://choice.example/"} { // a redirect that leads nowhere
		if p := look(seed); p.Front.Failed == "" || len(p.Front.Needs) > 0 {
			t.Errorf("%s: %+v", seed, p.Front)
		}
	}
	if p := look("http://away.example/"); p.Front.Elsewhere != "http://other.example/" || p.Front.Failed == "" {
		t.Errorf("%+v", p.Front)
	}
}
