package crawler_test

import (
	"slices"
	"testing"
)

// What a session or an order of parameters makes of a URL is not that URL: it
// may be denied, or missing, or lead to it. Either way the page is fetched.
func TestAPageIsFetchedWhateverBecameOfItsTwin(t *testing.T) {
	const session = "0A1B2C3D4E5F60718293"
	for name, c := range map[string]struct {
		pages map[string]page
		want  []string // besides robots.txt
	}{
		"a session that a redirect ends": {map[string]page{
			"/": links("/shop;jsessionid=" + session), "/shop;jsessionid=" + session: redirect("/shop"), "/shop": links("/behind"), "/behind": html("behind"),
		}, []string{"/", "/behind", "/shop", "/shop;jsessionid=" + session}},
		"a session that a redirect begins": {map[string]page{
			"/": links("/shop"), "/shop": redirect("/shop;jsessionid=" + session), "/shop;jsessionid=" + session: links("/behind"), "/behind": html("behind"),
		}, []string{"/", "/behind", "/shop", "/shop;jsessionid=" + session}},
		"an order that a redirect mends": {map[string]page{
			"/": links("/list?b=2&a=1"), "/list?b=2&a=1": redirect("/list?a=1&b=2"), "/list?a=1&b=2": links("/behind"), "/behind": html("behind"),
		}, []string{"/", "/behind", "/list?a=1&b=2", "/list?b=2&a=1"}},
		"a session that robots.txt denies": {map[string]page{
			"/robots.txt": text("User-agent: *\nDisallow: /*sid=\n"),
			"/":           links("/page?sid="+session, "/b"), "/b": links("/page"), "/page": html("page"),
		}, []string{"/", "/b", "/page"}},
		"a session that is over": {map[string]page{
			"/": links("/page?sid="+session, "/b"), "/page?sid=" + session: status(404), "/b": links("/page"), "/page": html("page"),
		}, []string{"/", "/b", "/page", "/page?sid=" + session}},
		"one session for all the others": {map[string]page{
			"/": links("/page?sid="+session, "/page?sid=9"+session, "/page?sid=8"+session, "/b"), "/page?sid=" + session: html("page"),
			"/b": links("/page", "/page?sid=7"+session), "/page": html("page"),
		}, []string{"/", "/b", "/page", "/page?sid=" + session}},
		"no session for a page that is known": {map[string]page{
			"/": links("/page", "/page?sid="+session), "/page": html("page"),
		}, []string{"/", "/page"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, c.pages)
			crawl(t, t.TempDir()+"/archive", options(s.origin+"/"))
			got := slices.DeleteFunc(s.requests(), func(target string) bool { return target == "/robots.txt" || target == "/sitemap.xml" })
			slices.Sort(got)
			same(t, "requests", got, c.want)
		})
	}
}
