package crawler_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/frontier/judge"
)

// A URL and its variant with a session id or another parameter order are different URLs: the variant
// may be disallowed, missing, or redirect to the page. In every case the page is fetched.
func TestAPageIsFetchedWhateverBecameOfItsTwin(t *testing.T) {
	long(t)
	t.Parallel()
	const session = "0A1B2C3D4E5F60718293"
	for name, c := range map[string]struct {
		pages map[string]page
		want  []string // in addition to robots.txt
	}{
		"a session that a redirect ends": {map[string]page{
			"/": links("/shop;jsessionid=" + session), "/shop;jsessionid=" + session: redirect("/shop"),
			"/shop": links("/behind"), "/behind": html("behind"),
		}, []string{"/", "/behind", "/shop", "/shop;jsessionid=" + session}},
		"a session that a redirect begins": {map[string]page{
			"/": links("/shop"), "/shop": redirect("/shop;jsessionid=" + session), "/shop;jsessionid=" +
				session: links("/behind"), "/behind": html("behind"),
		}, []string{"/", "/behind", "/shop", "/shop;jsessionid=" + session}},
		"an order that a redirect mends": {map[string]page{
			"/": links("/list?b=2&a=1"), "/list?b=2&a=1": redirect("/list?a=1&b=2"), "/list?a=1&b=2": links("/behind"),
			"/behind": html("behind"),
		}, []string{"/", "/behind", "/list?a=1&b=2", "/list?b=2&a=1"}},
		"a session that robots.txt denies": {map[string]page{
			"/robots.txt": text("User-agent: *\nDisallow: /*sid=\n"),
			"/":           links("/page?sid="+session, "/b"), "/b": links("/page"), "/page": html("page"),
		}, []string{"/", "/b", "/page"}},
		"a session that is over": {map[string]page{
			"/": links("/page?sid="+session, "/b"), "/page?sid=" + session: answering(404), "/b": links("/page"),
			"/page": html("page"),
		}, []string{"/", "/b", "/page", "/page?sid=" + session}},
		"one session for all the others": {map[string]page{
			"/":                    links("/page?sid="+session, "/page?sid=9"+session, "/page?sid=8"+session, "/b"),
			"/page?sid=" + session: html("page"),
			"/b":                   links("/page", "/page?sid=7"+session), "/page": html("page"),
		}, []string{"/", "/b", "/page", "/page?sid=" + session}},
		"no session for a page that is known": {map[string]page{
			"/": links("/page", "/page?sid="+session), "/page": html("page"),
		}, []string{"/", "/page"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, c.pages)
			crawl(t, t.TempDir()+"/archive", options(s.origin+"/"))
			got := slices.DeleteFunc(s.requests(), func(target string) bool {
				return target == "/robots.txt" ||
					target == "/sitemap.xml"
			})
			slices.Sort(got)
			same(t, "requests", got, c.want)
		})
	}
}

func TestWhatDeeperPagesLinkToEachOtherIsFetchedOnceWhenTheDepthIsRaised(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/": links("/a"), "/a": links("/b", "/c", "/d"),
		"/b": links("/c", "/d"), "/c": links("/b", "/d"), "/d": links("/b", "/c"),
	})
	dir := t.TempDir() + "/archive"
	o := options(s.origin + "/")
	o.Scope.MaxDepth = 1
	crawl(t, dir, o)
	s.forget()
	o.Scope.MaxDepth = 5
	r := crawl(t, dir, o)
	got := s.requests()
	slices.Sort(got)
	same(t, "requests", got, []string{"/b", "/c", "/d"})
	if c := r.Counts; c.Discovered != c.Fetched+c.Failed || c.Disregarded != 0 {
		t.Errorf("counts %+v", c)
	}
}

// /far is beyond the depth limit by the first link to it and within it by the second.
func TestWhatAShorterWayLedToIsNotFetchedAgainWhenTheDepthIsRaised(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/": links("/a", "/z"), "/a": links("/b"), "/b": links("/far"), "/z": redirect("/y"), "/y": redirect("/x"),
		"/x": links("/far"), "/far": links("/end"), "/end": html("end"),
	})
	dir := t.TempDir() + "/archive"
	o := options(s.origin + "/")
	o.Scope.MaxDepth = 2
	r := crawl(t, dir, o)
	x := why(t, dir, s.origin+"/far", o)
	if s.times("/far") != 1 || len(x.Finds) != 2 {
		t.Fatalf("the test is not what it should be: %q, %+v", s.requests(), x)
	}
	// Only /end counts as too deep: /far was fetched.
	if c := r.Counts; c.Disregarded != 1 || !maps.Equal(c.Reasons.Rules(), map[string]int{judge.Depth: 1}) {
		t.Errorf("counts %+v", c)
	}
	s.forget()
	o.Scope.MaxDepth = 9
	r = crawl(t, dir, o)
	same(t, "requests", s.requests(), []string{"/end"})
	if c := r.Counts; c.Discovered != c.Fetched+c.Failed || c.Disregarded != 0 {
		t.Errorf("counts %+v", c)
	}
}

func TestALinkToTheRobotsFileOfAnotherHostIsNotInItsWay(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{
		"site.example/":          html(`<img src=http://cdn.example/robots.txt><img src=http://cdn.example/i.png><img src=http://cdn.example/no.png>`),
		"cdn.example/robots.txt": text("User-agent: *\nDisallow: /no\n"),
		"cdn.example/i.png":      {header: []string{"Content-Type: image/png"}, body: "png"},
	}
	o := options("http://site.example/")
	s.reaches(t, &o)
	dir := t.TempDir() + "/archive"
	crawl(t, dir, o)
	s.forget()
	o.Scope.AnyRequisites = true
	stop, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if r := run(t, stop, dir, o); r.Ending != crawler.Done {
		t.Errorf("ended as %v: %s", r.Ending, r.Why)
	}
	check(t, dir)
	same(t, "requests", s.requests(), []string{"/robots.txt", "/i.png"})
}
