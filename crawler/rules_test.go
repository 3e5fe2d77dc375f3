package crawler_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler"
	"curtsy/politeness/rules"
	"curtsy/storage/crawllog"
)

func TestWhatRobotsDeniesIsNeverAskedForAndExplainNamesTheLine(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt":   text("User-agent: other\nDisallow: /\n\nUser-agent: curtsy\nDisallow: /private\nAllow: /private/open\nDisallow: /*.zip$"),
		"/":             html(`<a href=/private/a>a</a><a href=/private/open>b</a><a href=/x.zip>c</a><img src=/private/i.png><a href=/go>go</a>`),
		"/private/open": html(""), "/go": redirect("/private/target"),
	})
	dir := t.TempDir()
	o := options(s.URL + "/")
	crawl(t, dir, o)
	got := s.requests()
	slices.Sort(got)
	same(t, "requests", got, []string{"/", "/go", "/private/open", "/robots.txt"})
	for target, want := range map[string]string{
		"/private/a": "line 5: Disallow: /private", "/x.zip": "line 7: Disallow: /*.zip$",
		"/private/i.png": "line 5: Disallow: /private", "/private/target": "line 5: Disallow: /private",
	} {
		x := why(t, dir, s.URL+target, o)
		has(t, x.Reason.String(), want)
		if x.State != "disregarded" || len(x.Visits) != 0 {
			t.Errorf("%s is %s with %d visits", target, x.State, len(x.Visits))
		}
	}
	x := why(t, dir, s.URL+"/private/open", o)
	has(t, fmt.Sprint(x.Decisions), "line 6: Allow: /private/open")
	x = why(t, dir, s.URL+"/private/never-seen", o)
	if x.Known || x.Decisions[len(x.Decisions)-1].Allow {
		t.Errorf("a URL never seen: %+v", x)
	}
}

func TestNofollowAndNoindexOnPages(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/":         links("/nofollow", "/noindex", "/none", "/rel", "/ours", "/theirs", "/header"),
		"/nofollow": html(`<meta name=robots content=nofollow><a href=/n1>n1</a><img src=/n1.png>`),
		"/noindex":  html(`<meta name=robots content=noindex><a href=/i1>i1</a>`),
		"/none":     html(`<meta name=ROBOTS content="none"><a href=/n2>n2</a>`),
		"/rel":      html(`<a rel="nofollow" href=/r1>r1</a><a rel=ugc href=/r2>r2</a><a rel=sponsored href=/r3>r3</a><a href=/r4>r4</a>`),
		"/ours":     html(`<meta name=curtsy content=nofollow><a href=/n3>n3</a>`),
		"/theirs":   html(`<meta name=googlebot content=nofollow><a href=/t1>t1</a>`),
		"/header":   html(`<a href=/n4>n4</a>`).with("X-Robots-Tag: otherbot: noindex").with("X-Robots-Tag: curtsy: nofollow"),
		"/i1":       html("1"), "/r4": html("4"), "/t1": html("5"),
	})
	dir := t.TempDir()
	o := options(s.URL + "/")
	crawl(t, dir, o)
	for target, want := range map[string]string{
		"/n1": "nofollow: the page asks for it", "/n1.png": "nofollow: the page asks for it",
		"/n2": "nofollow: the page asks for it",
		"/n3": "nofollow: the page asks for it", "/n4": "nofollow: the page asks for it",
		"/r1": "nofollow: the link asks for it", "/r2": "nofollow: the link asks for it",
		"/r3": "nofollow: the link asks for it",
		"/i1": "", "/r4": "", "/t1": "",
	} {
		row := rows(t, dir)[target]
		if row.Rule != want || s.times(target) != map[bool]int{true: 1, false: 0}[want == ""] {
			t.Errorf("%s: asked for %d times, %s %q; want %q", target, s.times(target), row.State, row.Rule, want)
		}
	}
	for target, want := range map[string]string{
		"/noindex": "noindex", "/none": "none", "/header": "nofollow",
	} {
		v := visitsOf(t, dir, s.URL+target)
		if len(v) != 1 || v[0].Directives == nil || v[0].Kept != "response" {
			t.Errorf("%s: %+v", target, v)
			continue
		}
		has(t, fmt.Sprint(v[0].Directives.Sources), want)
	}
	if d := visitsOf(t, dir, s.URL+"/theirs")[0].Directives; d != nil && d.NoFollow {
		t.Errorf("a directive for another agent acts: %+v", d)
	}
}

func TestNofollowedURLFoundElsewhereIsFetched(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/":  html(`<a rel=nofollow href=/x>x</a><a href=/a>a</a>`),
		"/a": links("/x"), "/x": html("x"),
	})
	dir := t.TempDir()
	o := options(s.URL + "/")
	r := crawl(t, dir, o)
	if s.times("/x") != 1 || r.Counts.Disregarded != 0 || r.Counts.Discovered != 4 {
		t.Errorf("asked for %d times, counts %+v", s.times("/x"), r.Counts)
	}
	x := why(t, dir, s.URL+"/x", o)
	if len(x.Finds) != 2 || x.Finds[0].State != "disregarded" || x.State != "fetched" || x.Path[1].URL != s.URL+"/a" {
		t.Errorf("explain: %+v", x)
	}
}

func TestRelNofollowCanBeTurnedOff(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/": html(`<a rel=nofollow href=/x>x</a>`), "/x": html("x")})
	o := options(s.URL + "/")
	o.RelNofollow = false
	crawl(t, t.TempDir(), o)
	if s.times("/x") != 1 {
		t.Errorf("asked for %d times", s.times("/x"))
	}
}

// Every way to state noarchive, on every kind of response.
func TestNoarchiveKeepsTheBodyNowhere(t *testing.T) {
	t.Parallel()
	secret := "<title>" + unkept + "</title>" + unkept
	big := strings.Repeat(unkept+" ", 6<<20/len(unkept))
	s := newSite(t, map[string]page{
		"/": links("/meta", "/header", "/nocache", "/pdf", "/img", "/redirect", "/none", "/404", "/big",
			"/two", "/cut"),
		"/meta":    html(`<meta name=robots content="noarchive, nosnippet"><a href=/found>found</a>` + secret),
		"/header":  html(secret).with("X-Robots-Tag: noarchive"),
		"/nocache": html(secret).with("X-Robots-Tag: curtsy: nocache"),
		"/pdf": {header: []string{"Content-Type: application/pdf", "X-Robots-Tag: noindex, noarchive"},
			body: unkept},
		"/img": {header: []string{"Content-Type: image/png", "X-Robots-Tag: noarchive"}, body: unkept},
		"/redirect": {status: 302, header: []string{"Location: /found", "X-Robots-Tag: noarchive",
			"Content-Type: text/html"}, body: secret},
		"/none": html(`<meta name=robots content=none>kept all the same`),
		"/404": page{status: 404, header: []string{"Content-Type: text/html", "X-Robots-Tag: noarchive"},
			body: secret},
		"/big":   {header: []string{"Content-Type: text/plain", "X-Robots-Tag: noarchive"}, body: big},
		"/two":   html(`</body></html><meta name=robots content=noarchive>` + secret),
		"/cut":   failing(0, 200, "", html(`<meta name=robots content=noarchive>`+secret)),
		"/found": html("found"),
	})
	dir := t.TempDir()
	o := options(s.URL + "/")
	r := crawl(t, dir, o) // this checks every file, too
	for _, target := range []string{"/meta", "/header", "/nocache", "/pdf", "/img", "/redirect", "/404", "/big",
		"/two", "/cut"} {
		v := visitsOf(t, dir, s.URL+target)
		if len(v) != 1 || v[0].Kept != "withheld" || v[0].Record == nil || v[0].Digest != "" {
			t.Errorf("%s: %+v, want one withheld visit with a metadata record", target, v)
		}
	}
	if row := rows(t, dir)["/none"]; row.Kept != "response" {
		t.Errorf("none does not imply noarchive, but the body is %s", row.Kept)
	}
	if s.times("/found") != 1 {
		t.Error("noarchive is not nofollow, but the links were not followed")
	}
	if r.State.Withheld != 10 {
		t.Errorf("%d withheld, want 10", r.State.Withheld)
	}
	w := warcText(t, dir)
	has(t, w, "withheld: the body, as the site asks: X-Robots-Tag: noarchive")
	if n := strings.Count(w, "withheld: the body"); n != 10 {
		t.Errorf("%d metadata records say that a body is withheld, want 10", n)
	}
}

func TestRedirectsCarryDirectivesOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/":       links("/plain", "/no"),
		"/plain":  redirect("/target").with("X-Robots-Tag: noindex"),
		"/no":     redirect("/hidden").with("X-Robots-Tag: nofollow"),
		"/target": html(`<a href=/deep>deep</a>`), "/deep": html(""),
	})
	dir := t.TempDir()
	crawl(t, dir, options(s.URL+"/"))
	if s.times("/hidden") != 0 || rows(t, dir)["/hidden"].Rule != "nofollow: the page asks for it" {
		t.Errorf("/hidden: %+v", rows(t, dir)["/hidden"])
	}
	if s.times("/target") != 1 || s.times("/deep") != 1 {
		t.Error("noindex on a redirect stopped its target")
	}
	if v := visitsOf(t, dir, s.URL+"/plain")[0]; v.Directives == nil || !v.Directives.NoIndex ||
		v.Location != s.URL+"/target" {
		t.Errorf("the redirect's visit: %+v", v)
	}
	if v := visitsOf(t, dir, s.URL+"/target")[0]; v.Directives != nil {
		t.Errorf("the target has the redirect's directives: %+v", v.Directives)
	}
}

func TestRedirectChainsLoopsAndBadOnes(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/":      links("/a", "/loop1", "/self", "/bad", "/none", "/chain/0", "https://127.0.0.1:1/"),
		"/a":     redirect("/b#f"),
		"/b":     redirect("//elsewhere.test/x"),
		"/loop1": redirect("/loop2"), "/loop2": redirect("/loop1"),
		"/self": redirect("/self"), "/bad": redirect("http://[bad"), "/none": answering(301),
	})
	for i := range 30 {
		s.pages[fmt.Sprintf("/chain/%d", i)] = redirect(fmt.Sprintf("/chain/%d", i+1))
	}
	dir := t.TempDir()
	if r := crawl(t, dir, options(s.URL+"/")); r.Ending != crawler.Done {
		t.Errorf("ended as %v: %s", r.Ending, r.Why)
	}
	for target, want := range map[string]string{
		"/a": "fetched redirect to " + s.URL + "/b", "/loop1": "failed redirect: in a circle; redirect to " + s.URL +
			"/loop2", "/self": "failed redirect: to itself; redirect to " + s.URL + "/self",
		"/bad": "failed http: 302 without a usable Location", "/none": "failed http: 301 without a usable Location",
		"/x":        "disregarded scope: another scheme, host or port",
		"/chain/21": "disregarded scope: more than 20 redirects in a row",
	} {
		if row := rows(t, dir)[target]; row.State+" "+row.Rule != want {
			t.Errorf("%s: %s %s, want %s", target, row.State, row.Rule, want)
		}
	}
	if s.times("/chain/20") != 1 || s.times("/chain/21") != 0 || s.times("/loop1") != 1 {
		t.Error("chains are followed for 20 hops, loops once")
	}
}

func TestCleanParamFetchesOnePageOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text("User-agent: *\nDisallow:\nClean-param: ref&sid /news\nSitemap: /map.txt"),
		"/map.txt":    text("ORIGIN/news?ref=map"),
		"/":           links("/news?ref=1&id=7", "/news?id=7&ref=2", "/news?id=7", "/news?sid=9", "/other?ref=1"),
		"/news?id=7":  html("7"), "/news": html("n"), "/other?ref=1": html("o"),
	})
	dir := t.TempDir()
	o := options(s.URL + "/")
	crawl(t, dir, o)
	got := s.requests()
	slices.Sort(got)
	same(t, "requests", got, []string{"/", "/map.txt", "/news", "/news?id=7", "/other?ref=1", "/robots.txt"})
	x := why(t, dir, s.URL+"/news?ref=1&id=7", o)
	if x.StandsFor != s.URL+"/news?id=7" || x.State != "disregarded" {
		t.Errorf("explain: %+v", x)
	}
	has(t, x.Reason.String(), "clean-param: line 3: Clean-param: ref&sid /news")
	x = why(t, dir, s.URL+"/news?id=8&ref=never", o)
	if x.StandsFor != s.URL+"/news?id=8" || x.Known {
		t.Errorf("explain of a URL never seen: %+v", x)
	}
}

func TestCanonicalIsRecordedAndIsNoLink(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/": html(`<link rel=canonical href=/canon><a href=/a>a</a>`), "/a": html("")})
	dir := t.TempDir()
	crawl(t, dir, options(s.URL+"/"))
	if v := visitsOf(t, dir, s.URL+"/")[0]; v.Canonical != s.URL+"/canon" {
		t.Errorf("canonical %q", v.Canonical)
	}
}

func TestYandexDialectActsInTheCrawl(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text("User-agent: Yandex\nDisallow: /a\n\nUser-agent: *\nDisallow: /b"),
		"/":           links("/a", "/b"), "/a": html("a"), "/b": html("b"),
	})
	o := options(s.URL + "/")
	o.Rules = rules.Options{Agents: []string{"curtsy", "Yandex"}, Dialect: rules.Yandex}
	crawl(t, t.TempDir(), o)
	if s.times("/a") != 0 || s.times("/b") != 1 {
		t.Errorf("requests %q, want /b and not /a", s.requests())
	}
}

func TestSeedRedirectsToHTTPSAndWWWAreFollowedAndSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{
		"example.com/": {status: 301, header: []string{"Location: https://www.example.com/"}},
		"www.example.com/": links("https://www.example.com/a", "http://example.com/b", "https://other.test/",
			"http://www.example.com/c"),
		"www.example.com/a":          html("a"),
		"example.com/b":              html("b"),
		"www.example.com/robots.txt": text("User-agent: *\nDisallow: /private"),
	}
	var said []string
	o := options("http://example.com/")
	o.Tell = collect(&said)
	s.reaches(t, &o)
	dir := t.TempDir()
	r := crawl(t, dir, o)
	var got []string
	for _, a := range s.asked() {
		got = append(got, a.host+a.target)
	}
	slices.Sort(got)
	// /b is missing there, so it is requested where the link leads; http://www.…/c may belong to the site
	same(t, "requests", got, []string{"example.com/", "example.com/b", "example.com/robots.txt", "www.example.com/",
		"www.example.com/a", "www.example.com/b", "www.example.com/c", "www.example.com/robots.txt",
		"www.example.com/robots.txt"})
	same(t, "told", said, []string{"http://example.com/ redirects to https://www.example.com/: both now count as the site"})
	same(t, "origins", r.State.Origins, []string{"http://example.com", "https://www.example.com"})
	has(t, warcText(t, dir), "WARC-Protocol: http/1.1 tls/1.3")
	has(t, warcText(t, dir), "WARC-Cipher-Suite: TLS_")
}

func TestSeedThatRedirectsToAnotherSiteIsSaidAndNotFollowed(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{"site.example/": redirect("https://other.example/")}
	var said []string
	o := options("http://site.example/")
	o.Tell = collect(&said)
	s.reaches(t, &o)
	crawl(t, t.TempDir(), o)
	same(t, "told", said, []string{"http://site.example/ redirects to https://other.example/, which is another site"})
	if len(s.requests()) != 2 {
		t.Errorf("requests %q", s.requests())
	}
}

// The Host line of robots.txt decides nothing; a redirect of that name does.
func TestHostLineHasANameAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		home page
		want []string
		told string
	}{
		{"redirects", redirect("http://site.example/"), []string{"site.example/a"},
			"http://www.site.example/ redirects to http://site.example/: both now count as the site"},
		{"answers", html("another"), nil, "http://www.site.example/ answers for itself and does not redirect to http://site.example: another site, its pages are skipped; " +
			"to crawl both as one: curtsy crawl http://site.example/ --alias www.site.example, with another --archive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, map[string]page{
				"site.example/robots.txt": text("User-agent: *\nDisallow:\nHost: www.site.example\n"),
				"www.site.example/":       c.home,
				"site.example/":           links("http://www.site.example/a", "http://m.site.example/"),
				"site.example/a":          html("a"),
			})
			o, said := options("http://site.example/"), []string(nil)
			o.Tell = collect(&said)
			s.reaches(t, &o)
			crawl(t, t.TempDir(), o)
			var got []string
			for _, a := range s.asked() {
				got = append(got, a.host+a.target)
			}
			slices.Sort(got)
			got = slices.DeleteFunc(got, func(u string) bool {
				return u == "www.site.example/a" &&
					c.want == nil
			}) // requested first, at the origin where it was found
			same(t, "requests", got, append([]string{"site.example/"}, append(c.want, "site.example/robots.txt",
				"www.site.example/", "www.site.example/robots.txt")...))
			same(t, "told", said, []string{c.told})
		})
	}
}

func TestHostOfAnotherDomainIsSaidAndNotFollowed(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{
		"site.example/robots.txt": text("Host: bank.example"),
		"site.example/":           links("http://bank.example/"),
	}
	var said []string
	o := options("http://site.example/")
	o.Tell = collect(&said)
	s.reaches(t, &o)
	crawl(t, t.TempDir(), o)
	same(t, "told", said, []string{"http://site.example/robots.txt line 1: Host: bank.example is in another domain; try: curtsy crawl http://bank.example/"})
	if len(s.requests()) != 2 {
		t.Errorf("requests %q", s.requests())
	}
}

func TestRequisitesFromOtherHostsObeyTheirRobots(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{
		"site.example/":           html(`<img src=http://cdn.example/i.png><img src=http://cdn.example/no.png><a href=http://cdn.example/robots.txt>r</a><a href=http://cdn.example/page>p</a><img src=http://dead.example/x.png>`),
		"cdn.example/robots.txt":  text("User-agent: *\nDisallow: /no\nSitemap: /theirs.xml"),
		"cdn.example/i.png":       {header: []string{"Content-Type: image/png"}, body: "png"},
		"dead.example/robots.txt": answering(503),
	}
	o := options("http://site.example/")
	o.Scope.AnyRequisites = true
	s.reaches(t, &o)
	dir := t.TempDir()
	r := crawl(t, dir, o)
	if r.Ending != crawler.Done {
		t.Errorf("ended as %v: %s", r.Ending, r.Why)
	}
	var got []string
	for _, a := range s.asked() {
		if a.host != "dead.example" {
			got = append(got, a.host+a.target)
		}
	}
	slices.Sort(got)
	same(t, "requests", got, []string{"cdn.example/i.png", "cdn.example/robots.txt", "site.example/",
		"site.example/robots.txt"})
	has(t, rows(t, dir)["/x.png"].Rule, "robots.txt: unavailable")
	if r.Counts.Queued() != 0 {
		t.Errorf("%d left queued by a crawl that is done: %v", r.Counts.Queued(), r.Counts.Reasons)
	}
}

func TestSlowRobotsOfAnotherHostHoldsNobodyElseBack(t *testing.T) {
	t.Parallel()
	last := make(chan struct{})
	s := newSite(t, nil)
	s.pages = map[string]page{
		"site.example/":  html(`<img src=http://cdn.example/i.png><a href=/2>2</a>`),
		"site.example/2": links("/3"),
		"site.example/3": {serve: func(http.ResponseWriter, *http.Request) { close(last) }},
		"cdn.example/robots.txt": {serve: func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-last:
			case <-r.Context().Done():
				t.Error("/3 was not asked for while the robots.txt of the other host was on its way")
			}
		}},
		"cdn.example/i.png": {header: []string{"Content-Type: image/png"}, body: "png"},
	}
	o := options("http://site.example/")
	o.Scope.AnyRequisites, o.Pace.Concurrency = true, 2
	s.reaches(t, &o)
	r := crawl(t, t.TempDir(), o)
	if r.Ending != crawler.Done || s.times("/i.png") != 1 {
		t.Errorf("ended as %v, %q", r.Ending, s.requests())
	}
}

func TestHostThatIsNotDialledIsGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/": html(`<img src=http://169.254.169.254/x.png>`)})
	o := options(s.URL + "/")
	o.Scope.AnyRequisites = true
	dir := t.TempDir()
	r := crawl(t, dir, o)
	if r.Ending != crawler.Done || r.Counts.Queued() != 0 {
		t.Errorf("ended as %v with %d queued: %v", r.Ending, r.Counts.Queued(), r.Counts.Reasons)
	}
	if n := len(visitsOf(t, dir, "http://169.254.169.254/robots.txt")); n != 1 {
		t.Errorf("%d tries for a robots.txt at an address that is not dialled, want 1", n)
	}
	has(t, rows(t, dir)["/x.png"].Rule, "a link-local address")
}

func TestRedirectToAParameterThatIsVoidIsFollowed(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text("Clean-param: sid"),
		"/":           links("/shop"), "/shop": redirect("/shop?sid=1"),
		"/shop?sid=1": links("/shop?sid=2", "/ware?sid=3"), "/ware": html(""),
	})
	crawl(t, t.TempDir(), options(s.URL+"/"))
	got := s.requests()
	slices.Sort(got)
	same(t, "requests", got, []string{"/", "/robots.txt", "/shop", "/shop?sid=1", "/ware"})
}

// noarchive also holds for a page served in place of a sitemap or robots.txt.
func TestNoarchiveHoldsInThePlaceOfListings(t *testing.T) {
	t.Parallel()
	bad := html(`<!DOCTYPE html><meta name="robots" content="noarchive"><title>not found</title><a href="/found">x</a><p>` + unkept)
	t.Run("sitemap", func(t *testing.T) {
		s := newSite(t, map[string]page{"/robots.txt": text("Sitemap: ORIGIN/sitemap.xml\n"), "/": html("x"),
			"/sitemap.xml": bad})
		dir := filepath.Join(t.TempDir(), "archive")
		crawl(t, dir, options(s.URL+"/"))
		if got := rows(t, dir)["/sitemap.xml"].Kept; got != crawllog.KeptWithheld {
			t.Errorf("it is kept as %q", got)
		}
		if s.times("/found") > 0 {
			t.Error("its links were followed")
		}
	})
	t.Run("robots.txt", func(t *testing.T) {
		s := newSite(t, map[string]page{"/robots.txt": bad, "/": html("x")})
		dir := filepath.Join(t.TempDir(), "archive")
		crawl(t, dir, options(s.URL+"/"))
		if got := rows(t, dir)["/robots.txt"].Kept; got != crawllog.KeptWithheld {
			t.Errorf("it is kept as %q", got)
		}
	})
}
