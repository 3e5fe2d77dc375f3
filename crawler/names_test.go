package crawler_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/explain"
)

// named serves each origin ("http://www.example.com") its own pages; "*" redirects all others to the
// same path at an origin.
func named(t *testing.T, origins map[string]map[string]page) *site {
	s := newSite(t, nil)
	s.pages = map[string]page{"*": {serve: func(w http.ResponseWriter, r *http.Request) {
		origin := "http://" + r.Host
		if r.TLS != nil {
			origin = "https://" + r.Host
		}
		p, ok := origins[origin][r.URL.Path]
		if to, all := origins[origin]["*"]; !ok && all {
			http.Redirect(w, r, to.body+r.URL.RequestURI(), http.StatusMovedPermanently)
			return
		}
		if !ok {
			p = answering(404)
		}
		if p.serve != nil {
			p.serve(w, r)
			return
		}
		for _, line := range p.header {
			name, value, _ := strings.Cut(line, ": ")
			w.Header().Add(name, value)
		}
		w.WriteHeader(max(p.status, 200))
		fmt.Fprint(w, p.body)
	}}}
	return s
}

// fetched lists the URLs of an archive whose last response was 200, without robots.txt.
func fetched(t *testing.T, dir string) (list []string) {
	t.Helper()
	all, err := explain.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Status == 200 && !strings.HasSuffix(r.URL, "/robots.txt") {
			list = append(list, r.URL)
		}
	}
	slices.Sort(list)
	return list
}

// Whichever host name of a site the crawl starts at, each page is fetched once, under the name that the
// seed redirects to, and no URL is requested twice.
func TestNamesOfOneSite(t *testing.T) {
	t.Parallel()
	all := []string{"http://example.com", "https://example.com", "http://www.example.com", "https://www.example.com"}
	mixed := func(i int) page {
		return links(all[i%4]+"/1", all[(i+1)%4]+"/2", all[(i+2)%4]+"/3", all[(i+3)%4]+"/")
	}
	content := map[string]page{"/": mixed(0), "/1": mixed(1), "/2": mixed(2), "/3": mixed(3)}
	for _, primary := range all {
		origins := map[string]map[string]page{}
		for _, name := range all {
			origins[name] = map[string]page{"*": {body: primary}}
		}
		origins[primary] = content
		for _, start := range all {
			t.Run(primary+" from "+start, func(t *testing.T) {
				t.Parallel()
				s := named(t, origins)
				o := options(start + "/")
				s.reaches(t, &o)
				dir := filepath.Join(t.TempDir(), "archive")
				r := crawl(t, dir, o)
				same(t, "fetched", fetched(t, dir), []string{primary + "/", primary + "/1", primary + "/2",
					primary + "/3"})
				if r.State.Primary != primary {
					t.Errorf("primary name %q, want %q", r.State.Primary, primary)
				}
				asked := len(s.log)
				crawl(t, dir, o) // nothing is left
				if len(s.log) != asked || asked > 20 {
					t.Errorf("%d requests, %d after a second run", asked, len(s.log))
				}
				other := all[(slices.Index(all, primary)+1)%4]
				x := why(t, dir, other+"/3", o)
				if x.State == "disregarded" && x.Reason.Rule != "name" {
					t.Errorf("explain %s/3: %+v", other, x.Reason)
				}
			})
		}
	}
}

// A page that only one of the names serves is found there; that name's own robots.txt applies to it.
func TestAPageOfAnotherNameAlone(t *testing.T) {
	t.Parallel()
	s := named(t, map[string]map[string]page{
		"http://example.com": {"/robots.txt": text("User-agent: *\nDisallow: /denied"),
			"/": redirect("http://www.example.com/"), "/old": html("old"), "/denied": html("denied")},
		"http://www.example.com": {"/robots.txt": text("User-agent: *\nDisallow: /secret"),
			"/": links("http://example.com/old", "http://example.com/denied", "http://example.com/secret",
				"http://example.com/both"), "/both": html("both")},
	})
	o := options("http://example.com/")
	s.reaches(t, &o)
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, o)
	same(t, "fetched", fetched(t, dir), []string{"http://example.com/old", "http://www.example.com/",
		"http://www.example.com/both"})
	for _, a := range s.asked() {
		if a.target == "/secret" || a.host == "example.com" && a.target == "/denied" {
			t.Errorf("%s%s is denied by the robots.txt of its own host", a.host, a.target)
		}
	}
	// A rebuild of a lost crawl.db finds the same.
	before := fetched(t, dir)
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	rebuilt(t, dir, o)
	r := crawl(t, dir, o)
	same(t, "fetched, rebuilt", fetched(t, dir), before)
	if r.State.Primary != "http://www.example.com" {
		t.Errorf("primary name, rebuilt: %q", r.State.Primary)
	}
}

// A seed that redirects to another site fails unless FollowSeed is set; the same archive can be
// continued with it set.
func TestFollowSeed(t *testing.T) {
	t.Parallel()
	for what, home := range map[string]page{
		"redirect": redirect("https://other.example.com/en/"),
		"meta":     html(`<title>x</title><meta http-equiv=refresh content="0; url=https://other.example.com/en/">`),
		"replace":  html(`<script>window.location.replace("https://other.example.com/en/")</script>`),
		"href":     html(`<body><script>document.location.href = 'https://other.example.com/en/';</script><noscript>no</noscript>`),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := named(t, map[string]map[string]page{"http://example.com": {"/": home},
				"https://other.example.com": {"/en/": links("/en/1", "https://third.test/"), "/en/1": html("1")}})
			o := options("http://example.com/")
			s.reaches(t, &o)
			dir := filepath.Join(t.TempDir(), "archive")
			failed := func() *crawler.SeedFailure {
				c, err := crawler.Open(dir, o)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				f, err := c.SeedFailure()
				if err != nil {
					t.Fatal(err)
				}
				if f != nil {
					if again, err := c.SeedAgain(); err != nil || !again {
						t.Errorf("asked again: %v, %v", again, err)
					}
				}
				return f
			}
			crawl(t, dir, o)
			if f := failed(); f == nil || f.Elsewhere.String() != "https://other.example.com/en/" {
				t.Fatalf("got %+v, want a failure that names the other site", f)
			}
			o.FollowSeed = true
			crawl(t, dir, o)
			want := []string{"https://other.example.com/en/", "https://other.example.com/en/1"}
			if what != "redirect" {
				want = append([]string{"http://example.com/"}, want...)
			}
			same(t, "fetched", fetched(t, dir), want)
			if f := failed(); f != nil {
				t.Errorf("failed still: %+v", f)
			}
		})
	}
}

// A page that does nothing but redirect is followed as a redirect; one with further content is a page.
func TestPagesThatOnlyLeadOn(t *testing.T) {
	t.Parallel()
	s := named(t, map[string]map[string]page{"http://example.com": {
		"/":    html(`<script>location='/en/'</script>`),
		"/en/": links("/1"), "/1": html(`<p>` + strings.Repeat("much text ", 50) +
			`<script>if (x) location.href="/2"</script>`),
		"/2": html("2"),
	}})
	o := options("http://example.com/")
	s.reaches(t, &o)
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, o)
	if got := visitsOf(t, dir, "http://example.com/")[0].Location; got != "http://example.com/en/" {
		t.Errorf("leads to %q", got)
	}
	if got := visitsOf(t, dir, "http://example.com/1")[0].Location; got != "" {
		t.Errorf("a page leads to %q", got)
	}
}

// A redirect to itself that sets a cookie turns cookies on, for this run and later ones.
func TestCookieWallTurnsCookiesOn(t *testing.T) {
	t.Parallel()
	wall := func(body page) page {
		return page{serve: func(w http.ResponseWriter, r *http.Request) {
			if _, err := r.Cookie("seen"); err != nil {
				http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/"})
				http.Redirect(w, r, r.URL.Path, http.StatusFound)
				return
			}
			fmt.Fprint(w, "<!doctype html>"+body.body)
		}}
	}
	s := newSite(t, map[string]page{"/": wall(links("/a")), "/a": wall(html("a"))})
	var said []string
	o := options(s.URL + "/")
	o.Retries, o.SessionCookies = 0, true
	o.Fetch.Cookies, _ = cookiejar.New(nil)
	o.Tell = collect(&said)
	dir := filepath.Join(t.TempDir(), "archive")
	r := crawl(t, dir, o)
	if s.times("/") != 2 || s.times("/a") != 1 || r.Counts.Failed != 0 {
		t.Errorf("requests %q, %d failed", s.requests(), r.Counts.Failed)
	}
	same(t, "told", said, []string{s.URL +
		"/ redirects to itself until its cookie is sent back: cookies are kept from now on"})
	if x := why(t, dir, s.URL+"/", o); x.Session == nil || !x.Session.Wall || !x.Session.Kept {
		t.Errorf("explain: %+v", x.Session)
	}
}

// The cookie is set by another URL, to which the page redirects until the cookie is sent.
func TestACookieThatAnotherURLSets(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/check": {serve: func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/"})
		http.Redirect(w, r, "/", http.StatusFound)
	}}})
	for path, body := range map[string]string{"/": links("/a").body, "/a": html("a").body} {
		s.set(path, page{serve: func(w http.ResponseWriter, r *http.Request) {
			if _, err := r.Cookie("seen"); err != nil {
				http.Redirect(w, r, "/check", http.StatusFound)
				return
			}
			fmt.Fprint(w, "<!doctype html>"+body)
		}})
	}
	o := options(s.URL + "/")
	o.Retries, o.SessionCookies = 0, true
	o.Fetch.Cookies, _ = cookiejar.New(nil)
	dir := filepath.Join(t.TempDir(), "archive")
	r := crawl(t, dir, o)
	same(t, "asked for", s.requests(), []string{"/robots.txt", "/", "/check", "/", "/a"})
	if visits := visitsOf(t, dir, s.URL+"/"); len(visits) != 2 || visits[1].Status != 200 || r.Counts.Failed != 0 {
		t.Errorf("%d visits, %d failed", len(visits), r.Counts.Failed)
	}
}

// A seed that is a sitemap or a feed is read as one; a guessed sitemap that lists nothing is not a
// failure.
func TestASitemapAsTheSeed(t *testing.T) {
	t.Parallel()
	for what, p := range map[string]page{
		"sitemap": {header: []string{"Content-Type: application/xml"},
			body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://example.com/1</loc></url></urlset>`},
		"feed": {header: []string{"Content-Type: application/rss+xml"},
			body: `<rss version="2.0"><channel><item><link>http://example.com/1</link></item></channel></rss>`},
		"text": text("http://example.com/1\n"),
	} {
		s := named(t, map[string]map[string]page{"http://example.com": {"/list": p, "/1": links("/2"), "/2": html("2"),
			"/sitemap.xml": redirect("/gone.xml")}})
		o := options("http://example.com/list")
		o.GuessSitemap = true
		s.reaches(t, &o)
		dir := filepath.Join(t.TempDir(), "archive")
		r := crawl(t, dir, o)
		same(t, what, fetched(t, dir), []string{"http://example.com/1", "http://example.com/2",
			"http://example.com/list"})
		if r.Counts.Failed != 0 {
			t.Errorf("%s: %+v", what, r.Counts)
		}
	}
}

// The other names of a site may have private addresses if the seed has one, of the same kind. Another
// host may only if it is also admitted by FollowSeed or AllowHosts.
func TestPrivateAddressesOfTheNames(t *testing.T) {
	t.Parallel()
	const private, public = "10.1.1.1", "93.184.216.34"
	for _, c := range []struct {
		what         string
		seed, target string
		at           map[string]string
		follow       bool
		allow        []string
		want         int
	}{
		{"www. of a private seed", "example.com", "www.example.com", map[string]string{"example.com": private,
			"www.example.com": private}, false, nil, 1},
		{"another host of a private seed", "wiki", "wiki.example.com",
			map[string]string{"wiki": private, "wiki.example.com": private}, false, nil, 0},
		{"the same, followed", "wiki", "wiki.example.com",
			map[string]string{"wiki": private, "wiki.example.com": private}, true, nil, 1},
		{"www. of a public seed, inside", "example.com", "www.example.com", map[string]string{"example.com": public,
			"www.example.com": private}, false, nil, 0},
		{"a public seed, followed and allowed", "example.com", "b.test", map[string]string{"example.com": public,
			"b.test": private}, true, []string{"b.test"}, 0},
		{"another sort of private address", "example.com", "www.example.com", map[string]string{"example.com": private,
			"www.example.com": "169.254.169.254"}, false, nil, 0},
	} {
		s := named(t, map[string]map[string]page{"http://" + c.seed: {"*": {body: "http://" + c.target}},
			"http://" + c.target: {"/": html("home")}})
		o := options("http://" + c.seed + "/")
		s.reaches(t, &o)
		o.FollowSeed, o.AllowHosts, o.Retries = c.follow, c.allow, 0
		o.Fetch.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(c.at[host])}, nil
		}
		dir := filepath.Join(t.TempDir(), "archive")
		run(t, t.Context(), dir, o)
		if got := fetched(t, dir); len(got) != c.want {
			t.Errorf("%s: fetched %q, want %d", c.what, got, c.want)
		}
	}
}

// A seed requested in plain http from a port that speaks https fails with a reason that says so.
func TestASeedInPlainHTTP(t *testing.T) {
	t.Parallel()
	site := httptest.NewTLSServer(http.NotFoundHandler())
	defer site.Close()
	o := options("http" + strings.TrimPrefix(site.URL, "https") + "/")
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, o)
	c, err := crawler.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if f, err := c.SeedFailure(); err != nil || f == nil || !strings.HasSuffix(f.Why, "asked in plain http") {
		t.Errorf("got %+v, %v", f, err)
	}
}
