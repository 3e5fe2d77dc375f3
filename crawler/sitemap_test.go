package crawler_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/status"
)

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

func xml(body string) page {
	return page{header: []string{"Content-Type: application/xml"}, body: body}
}

func TestSitemapsOfEveryKindAreReadAndOnlyOurURLsTaken(t *testing.T) {
	t.Parallel()
	other := newSite(t, map[string]page{})
	s := newSite(t, nil)
	s.pages = map[string]page{
		"/robots.txt":    text("User-agent: *\nDisallow: /secret\nDisallow: /denied.xml\nSitemap: /index.xml\nSitemap: /text.txt\nSitemap: /denied.xml"),
		"/index.xml":     xml(`<sitemapindex><sitemap><loc>ORIGIN/sub/index.xml</loc></sitemap><sitemap><loc>ORIGIN/gone.xml</loc></sitemap></sitemapindex>`),
		"/sub/index.xml": xml(`<sitemapindex><sitemap><loc>ORIGIN/map.xml.gz</loc></sitemap></sitemapindex>`),
		"/map.xml.gz": {header: []string{"Content-Type: application/octet-stream"},
			body: gzipped(`<urlset><url><loc>` + s.URL + `/gz</loc></url></urlset>`)},
		"/text.txt": text("ORIGIN/text\n" + other.URL +
			"/theirs\nhttps://elsewhere.test/\nORIGIN/secret/x\nnot a url"),
		"/denied.xml": text("ORIGIN/never"),
		"/":           links("/linked", "/text"),
		"/gz":         links("/gz"), "/text": html(""), "/linked": html(""), "/never": html(""),
	}
	dir := t.TempDir()
	r := crawl(t, dir, options(s.URL+"/"))
	got := s.requests()
	slices.Sort(got)
	same(t, "requests", got, []string{"/", "/gone.xml", "/gz", "/index.xml", "/linked", "/map.xml.gz", "/robots.txt",
		"/sub/index.xml", "/text", "/text.txt"})
	if n := len(other.requests()); n != 0 {
		t.Errorf("%d requests to another host", n)
	}
	for target, want := range map[string]string{
		"/secret/x":   "disregarded robots.txt: line 2: Disallow: /secret",
		"/denied.xml": "disregarded robots.txt: line 3: Disallow: /denied.xml",
		"/gone.xml":   "failed http: 404",
	} {
		if row := rows(t, dir)[target]; !bytes.HasPrefix([]byte(row.State+" "+row.Rule), []byte(want)) {
			t.Errorf("%s is %s %s, want %s", target, row.State, row.Rule, want)
		}
	}
	if r.Counts.Orphans != 1+1 { // /gz, which only links to itself, and the disallowed page
		t.Errorf("%d orphans, want /gz and /secret/x", r.Counts.Orphans)
	}
	for target, want := range map[string]bool{"/gz": true, "/text": false, "/linked": false, "/": false} {
		if x := why(t, dir, s.URL+target, options(s.URL+"/")); x.Orphan != want {
			t.Errorf("%s: orphan %v, want %v", target, x.Orphan, want)
		}
	}
	st, err := status.Read(dir)
	if err != nil || st.Orphans != 2 {
		t.Errorf("status says %d orphans, %v", st.Orphans, err)
	}
}

func TestPriorityAndLastChangeOrderTheQueue(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text("Sitemap: /map.xml"),
		"/map.xml": xml(`<urlset>
<url><loc>ORIGIN/old</loc><lastmod>2020-01-01</lastmod></url>
<url><loc>ORIGIN/new</loc><lastmod>2026-01-01T10:00:00Z</lastmod></url>
<url><loc>ORIGIN/low</loc><priority>0.1</priority><lastmod>2026-02-01</lastmod></url>
<url><loc>ORIGIN/high</loc><priority>0.9</priority></url></urlset>`),
		"/": html(""), "/old": html("1"), "/new": html("2"), "/low": html("3"), "/high": html("4"),
	})
	crawl(t, t.TempDir(), options(s.URL+"/"))
	same(t, "requests", s.requests(), []string{"/robots.txt", "/map.xml", "/", "/high", "/new", "/old", "/low"})
}

func TestSitemapOnAnotherHostServesOurURLsAndItsOwnRobotsRule(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{
		"a.example/robots.txt":     text("Sitemap: http://maps.example/a.xml\nSitemap: http://maps.example/private.xml"),
		"maps.example/robots.txt":  text("User-agent: *\nDisallow: /private\nSitemap: http://maps.example/own.xml"),
		"maps.example/a.xml":       text("http://a.example/page\nhttp://maps.example/theirs"),
		"maps.example/private.xml": text("http://a.example/never"),
		"a.example/":               html(""), "a.example/page": html("page"),
	}
	o := options("http://a.example/")
	s.reaches(t, &o)
	dir := t.TempDir()
	crawl(t, dir, o)
	var got []string
	for _, a := range s.asked() {
		got = append(got, a.host+a.target)
	}
	slices.Sort(got)
	same(t, "requests", got, []string{"a.example/", "a.example/page", "a.example/robots.txt", "maps.example/a.xml",
		"maps.example/robots.txt"})
}

func TestDeadHostOfASitemapDoesNotStopTheCrawl(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{
		"a.example/robots.txt":    text("Sitemap: http://maps.example/a.xml"),
		"maps.example/robots.txt": answering(500),
		"a.example/":              html(""),
	}
	o := options("http://a.example/")
	s.reaches(t, &o)
	dir := t.TempDir()
	if r := crawl(t, dir, o); r.Ending != crawler.Done {
		t.Errorf("ended as %v: %s; want done", r.Ending, r.Why)
	}
	has(t, rows(t, dir)["/a.xml"].Rule, "robots.txt: unavailable: http://maps.example/robots.txt: answered 500 (tried 3 times)")
}

// A large page in place of a sitemap is read once and does not wait for itself.
func TestLargePageInThePlaceOfASitemapEndsTheCrawlAsAnyOther(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text("Sitemap: ORIGIN/s.xml\n"), "/": links("/a"), "/a": html("a"),
		"/s.xml": html("<!DOCTYPE html><title>x</title><p>" + strings.Repeat("lorem ipsum ", 300_000)),
	})
	if r := crawl(t, filepath.Join(t.TempDir(), "archive"), options(s.URL+"/")); r.Ending != crawler.Done ||
		s.times("/a") != 1 {
		t.Errorf("%v, requests %q", r.Ending, s.requests())
	}
}

// A robots.txt that names another one as its sitemap.
func TestRobotsThatIsNamedAsASitemapIsNone(t *testing.T) {
	t.Parallel()
	other := newSite(t, map[string]page{"/robots.txt": text("")})
	s := newSite(t, map[string]page{
		"/robots.txt": text("Sitemap: " + other.URL + "/robots.txt\nSitemap: ORIGIN/index.xml\n"), "/": links("/a"),
		"/a": html("a"),
	})
	s.pages["/index.xml"] = page{header: []string{"Content-Type: text/xml"},
		body: "<sitemapindex><sitemap><loc>" + s.URL + "/robots.txt</loc></sitemap></sitemapindex>"}
	dir := filepath.Join(t.TempDir(), "archive")
	for range 2 {
		if r := crawl(t, dir, options(s.URL+"/")); r.Ending != crawler.Done || s.times("/a") != 1 {
			t.Fatalf("%v, requests %q", r.Ending, s.requests())
		}
	}
}

// A sitemap on another host may redirect there, and lists the site's pages by URLs to which the site's
// Clean-param applies.
func TestSitemapOnAnotherHostMovesAndFolds(t *testing.T) {
	t.Parallel()
	other := newSite(t, map[string]page{"/robots.txt": text(""), "/s.xml": redirect("/s2.xml")})
	s := newSite(t, map[string]page{
		"/robots.txt": text("User-agent: *\nClean-param: ref /p\nSitemap: " + other.URL + "/s.xml\n"),
		"/":           html("home"), "/p": html("p"), "/p?ref=1": html("p"), "/p?ref=2": html("p"),
		"/listed": html("listed"),
	})
	other.pages["/s2.xml"] = page{header: []string{"Content-Type: text/xml"},
		body: fmt.Sprintf("<urlset><url><loc>%s/p?ref=1</loc></url><url><loc>%[1]s/p?ref=2</loc></url><url><loc>%[1]s/listed</loc></url></urlset>", s.URL)}
	crawl(t, filepath.Join(t.TempDir(), "archive"), options(s.URL+"/"))
	got := slices.Sorted(slices.Values(s.requests()))
	if want := []string{"/", "/listed", "/p", "/robots.txt"}; !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
}
