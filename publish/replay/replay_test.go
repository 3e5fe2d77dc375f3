package replay_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/render"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
	"curtsy/publish/catalog"
	"curtsy/publish/replay"
	"curtsy/publish/search"
	"curtsy/storage"
)

var site = `
-- / --
<!DOCTYPE html><title>start</title><link rel=preconnect href="http://other.test/"><link rel=manifest href=/m><a href="/Case?Q=(1),2">q</a> <a href="/case">c</a> <img src="//other.test/x.png">
<script type=SpeculationRules>{"prefetch":[]}</script><a href="/hidden">h</a> <a href="/old">o</a> <a href="/late">l</a> <a href="/koi">k</a> <a href="/file.bin">f</a> <a href="/odd">o</a> <a href="http://other.test/far">f</a> <a href="/bell">b</a> <a href="/long">l</a>
-- /Case?Q=(1),2 --
<title>Upper</title>UPPER
-- /case --
<title>lower</title>LOWER
-- /hidden --
HTTP 200
X-Robots-Tag: noarchive
Content-Type: text/html

SECRET-NOARCHIVE
-- /old --
HTTP 301
Location: /case
Set-Cookie: x=1

-- /late --
HTTP 200
X-Robots-Tag: unavailable_after: 1 Jan 2030
Content-Type: text/html

SECRET-EXPIRED
-- /koi --
HTTP 200
Content-Type: text/html; charset=koi8-r
Set-Cookie: x=1
Refresh: 5;url=http://other.test/
Link: <http://other.test/>; rel=preload
Content-Security-Policy: default-src *
Service-Worker-Allowed: /
Content-Disposition: inline; filename="../../etc/passwd"

<title>koi</title><p>x
-- /file.bin --
HTTP 200
Content-Type: application/octet-stream

0123456789
-- /bell --
HTTP 200
Content-Type: text/html; charset="` + "\a" + `"

<title>bell</title><p>rings
-- /long --
HTTP 200
Content-Type: application/octet-stream

` + "0123456789" + strings.Repeat("long", 100_000) + `
-- /odd --
HTTP 200
Content-Type: image/svg+xml

<svg xmlns="http://www.w3.org/2000/svg"><script>x</script></svg>
`

// served is a server of an archive of the site.
type served struct {
	*replay.Server
	seed    weburl.URL
	content string // host of the content
	now     time.Time
}

// newServed returns a server whose content host is known to be reachable.
func newServed(t *testing.T, o replay.Options, crawl ...func(*crawler.Options)) *served {
	t.Helper()
	v := newUnreached(t, o, crawl...)
	frame := regexp.MustCompile(`<iframe [^>]*src="http://([^/"]+)/`).FindStringSubmatch(v.ui("/2026/" +
		v.seed.String()).Body.String())
	if frame == nil {
		t.Fatal("the page has no frame")
	}
	v.content = frame[1]
	v.page("/reached")
	return v
}

func newUnreached(t *testing.T, o replay.Options, crawl ...func(*crawler.Options)) *served {
	t.Helper()
	_, seed := crawltest.Site(t, site)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed, crawl...)
	a := crawltest.Open(t, dir)
	index, err := catalog.Open(context.Background(), a, catalog.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	v := &served{seed: seed, now: time.Now()}
	o.UI, o.Content, o.Now = "127.0.0.1:8600", "127.0.0.1:8601", func() time.Time { return v.now }
	v.Server, err = replay.New([]*replay.Source{{Catalog: index, Seed: seed,
		Open: func() (*replay.Reading, error) {
			return &replay.Reading{Archive: a, State: "finished", AsOf: time.Now(), Close: func() {}}, nil
		},
		Explain: func(u weburl.URL) []string { return []string{"the crawl never saw " + u.Path()} }}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// With one archive that has 45 hits, or two that have 45 and 21, each page has up to 20 of each
// archive, its links, and which hits it shows.
func TestPagesOfHits(t *testing.T) {
	t.Parallel()
	seed := weburl.MustParse("http://h/")
	index := emptyIndex(t)
	source := func(total int) *replay.Source {
		return &replay.Source{Seed: seed, Catalog: index, Search: func(_ context.Context, query string, skip,
			limit int) (hits []search.Hit, _ int, _ string, _ error) {
			for i := skip; i < min(skip+limit, total) && query == "x y"; i++ {
				hits = append(hits, search.Hit{URL: fmt.Sprintf("http://h/%d", i+1), Title: fmt.Sprint("hit ", i+1)})
			}
			return hits, total, "", nil
		}}
	}
	for _, c := range []struct {
		sources []*replay.Source
		page    string
		want    string
	}{
		{[]*replay.Source{source(45)}, "", "45 documents for|1 to 20|next page=2|20 hits"},
		{[]*replay.Source{source(45)}, "&page=2", "45 documents for|21 to 40|prev page=1|next page=3|20 hits"},
		{[]*replay.Source{source(45)}, "&page=3", "45 documents for|41 to 45|prev page=2|5 hits"},
		{[]*replay.Source{source(45)}, "&page=4", "Nothing found for|prev page=3|0 hits"},
		{[]*replay.Source{source(20)}, "", "20 documents for|20 hits"},
		{[]*replay.Source{source(45), source(21)}, "", "66 documents for|1 to 40|next page=2|40 hits"},
		{[]*replay.Source{source(45), source(21)}, "&page=2",
			"66 documents for|41 to 61|prev page=1|next page=3|21 hits"},
		{[]*replay.Source{source(45), source(21)}, "&page=3", "66 documents for|62 to 66|prev page=2|5 hits"},
		{[]*replay.Source{source(45), source(21)}, "&page=2&archive=2", "21 documents for|21 to 21|prev page=1|1 hits"},
	} {
		s, err := replay.New(c.sources, replay.Options{UI: "127.0.0.1:8600", Content: "127.0.0.1:8601", Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		body := ask(s.UI(), "127.0.0.1:8600", "/search?q=x+y"+c.page, "Accept", "text/html").Body.String()
		var got []string
		for _, find := range []string{`(?:Nothing found|\d+ documents) for`, `\d+ to \d+`} {
			got = append(got, regexp.MustCompile(find).FindAllString(body, -1)...)
		}
		for _, m := range regexp.MustCompile(`rel="(prev|next)" href="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			u, _ := url.Parse(html.UnescapeString(m[2]))
			if u.Query().Get("q") != "x y" {
				t.Errorf("%s leads to another search", m[2])
			}
			got = append(got, m[1]+" page="+u.Query().Get("page"))
		}
		got = append(got, fmt.Sprint(strings.Count(body, ">hit "), " hits"))
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%d archives, %q: %s, want %s", len(c.sources), c.page, text, c.want)
		}
	}
}

// emptyIndex is the index of an archive without visits.
func emptyIndex(t *testing.T) *catalog.Catalog {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "empty")
	a, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	index, err := catalog.Open(t.Context(), a, catalog.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	return index
}

func ask(h http.Handler, host, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RequestURI, r.Host = target, host
	_, r.URL.RawQuery, _ = strings.Cut(target, "?")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func (v *served) ui(target string, header ...string) *httptest.ResponseRecorder {
	return ask(v.UI(), "127.0.0.1:8600", target, append([]string{"Accept", "text/html"}, header...)...)
}

func (v *served) page(target string, header ...string) *httptest.ResponseRecorder {
	return ask(v.Content(), v.content, target, header...)
}

// scripted stands for a browser that turns each page into its path.
type scripted struct{}

func (scripted) Close() {}

func (scripted) Render(_ context.Context, url string, _ render.Fetch) (*render.Page, error) {
	u, err := weburl.Parse(url)
	return &render.Page{URL: url, HTML: []byte("<!doctype html><p>made of " + u.Path() +
		`<a href="/case">link</a><script>again()</script>`), Asked: 1}, err
}

// A page that was rendered is shown as its scripts left it, and they do not run again.
func TestRenderedPages(t *testing.T) {
	v := newServed(t, replay.Options{}, func(o *crawler.Options) {
		o.Render, o.Browser = crawler.RenderAll,
			scripted{}
	})
	w := v.page("/2026/" + v.seed.Origin() + "/case")
	if w.Code/100 == 3 {
		w = v.page(w.Header().Get("Location"))
	}
	body := w.Body.String()
	if w.Code != 200 || !strings.Contains(body, "made of /case") || strings.Contains(body, "LOWER") ||
		!strings.Contains(body, `href="/2026`) {
		t.Errorf("%d %s", w.Code, body)
	}
	if policy := strings.Join(w.Header().Values("Content-Security-Policy"), " | "); !strings.Contains(policy,
		"script-src 'none'") {
		t.Errorf("policy %s", policy)
	}
	if raw := v.page("/2026id_/" + v.seed.Origin() + "/case").Body.String(); !strings.Contains(raw, "LOWER") {
		t.Errorf("the raw page is %s", raw)
	}
}

func TestContent(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	origin := v.seed.Origin()
	body := v.page("/2026/" + origin + "/").Body.String()
	for _, want := range []string{
		`<!DOCTYPE html><script>`, `RTCPeerConnection`,
		`href="/2026/` + strings.Replace(origin, "//", "/", 1) +
			`/Case?Q=%281%29%2C2"`, // relative in the page: no style takes it for an external link
		`src="/2026/http:/other.test/x.png"`, `href="/2026/http://other.test/far"`,
		`data-live-href="http://other.test/"`, `type=x-inerttionRules`,
	} {
		if !strings.Contains(body, want) && !strings.Contains(strings.ToLower(body), strings.ToLower(want)) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(strings.ToLower(body), "speculationrules") ||
		strings.Contains(body, ` href="http://other.test`) || strings.Contains(body, `rel=manifest href=`) {
		t.Errorf("a way out: %s", body)
	}
	for target, want := range map[string]string{
		"/2026/" + origin + "/Case?Q=%281%29%2C2":                      "UPPER", // as references have it
		"/2026/" + origin + "/Case?Q=(1),2":                            "UPPER", // as people write it
		"/20260101/" + strings.Replace(origin, "//", "/", 1) + "/case": "LOWER",
		"/2026/https" + strings.TrimPrefix(origin, "http") + "/case":   "LOWER",
	} {
		if w := v.page(target); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	for _, target := range []string{"/2026/" + origin + "/CASE", "/2026/" + origin + "/Case",
		"/2026/" + origin + "/case?", "/2026/http://other.test/"} {
		if w := v.page(target); w.Code != 404 {
			t.Errorf("%s: %d: case and query count", target, w.Code)
		}
	}
	if w := v.page("/2026/" + origin + "/old"); w.Code != 301 || w.Header().Get("Location") != "/2026/"+origin+"/case" {
		t.Errorf("redirect: %d %s", w.Code, w.Header())
	}
	if w := v.page("/case", "Referer", "http://"+v.content+"/2026/"+origin+"/"); w.Code != 307 ||
		w.Header().Get("Location") != "/2026/"+origin+"/case" {
		t.Errorf("a path by a script: %d %s", w.Code, w.Header())
	}
	pushed := []string{"Referer", "http://" + v.content + "/case"} // the address after history.pushState
	if w := v.page("/case", pushed...); w.Code != 404 {
		t.Errorf("a path without a time while no page is open: %d %s", w.Code, w.Header())
	}
	v.page("/2026/"+origin+"/", "Sec-Fetch-Dest", "iframe")
	if w := v.page("/case", pushed...); w.Code != 307 || w.Header().Get("Location") != "/2026/"+origin+"/case" {
		t.Errorf("a path without a time: %d %s", w.Code, w.Header())
	}
	if w := v.page("/case", "Sec-Fetch-Dest", "iframe"); w.Code != 307 || w.Header().Get("Location") != "/2026/"+
		origin+"/case" {
		t.Errorf("a frame that goes back to the address that its page has on the site: %d %s", w.Code, w.Header())
	} else if !strings.Contains(w.Header().Get("Connection-Allowlist"), "redirects=allow") {
		t.Errorf("redirects are blocked: %s", w.Header())
	}
	if w := v.page("/2026/"+origin+"/case", "Sec-Fetch-Dest", "document"); w.Code != 307 ||
		w.Header().Get("Location") != "http://127.0.0.1:8600/2026/"+origin+"/case" {
		t.Errorf("content at top level: %d %s", w.Code, w.Header())
	}
	if w := v.page("/2026/"+origin+"/file.bin", "Range", "bytes=2-4"); w.Code != 206 || w.Body.String() != "234" {
		t.Errorf("range: %d %s", w.Code, w.Body)
	}
	if csp := v.page("/2026/" + origin + "/odd").Header().Get("Content-Security-Policy"); strings.Contains(csp,
		"allow-scripts") {
		t.Errorf("a picture may run scripts: %s", csp)
	}
}

// An invalid Content-Type is not sent: clients would refuse the response.
func TestNoControlIsInAHeader(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	for _, path := range []string{"/2026/", "/2026id_/"} {
		w := v.page(path + v.seed.Origin() + "/bell")
		if !strings.Contains(w.Body.String(), "rings") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		for name, values := range w.Header() {
			if strings.ContainsAny(strings.Join(values, ""), "\x00\x07\r\n") {
				t.Errorf("%s: %s: %q", path, name, values)
			}
		}
	}
}

func TestHeadersOfTheSiteMeanNothing(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	h := v.page("/2026/" + v.seed.Origin() + "/koi").Header()
	if got := h.Get("Content-Type"); got != "text/html; charset=koi8-r" {
		t.Errorf("charset: %s", got)
	}
	if got := h.Get("Content-Disposition"); got != "inline; filename=passwd" {
		t.Errorf("disposition: %s", got)
	}
	for _, name := range []string{"Set-Cookie", "Refresh", "Service-Worker-Allowed", "Last-Modified"} {
		if h.Get(name) != "" {
			t.Errorf("%s: %s", name, h.Get(name))
		}
	}
	if strings.Contains(h.Get("Link"), "preload") || strings.Contains(h.Get("Content-Security-Policy"), "*") ||
		h.Get("X-Archive-Orig-Refresh") == "" {
		t.Errorf("headers: %v", h)
	}
}

func TestNoScripts(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{NoScripts: true})
	w := v.page("/2026/" + v.seed.String())
	if strings.Contains(w.Header().Get("Content-Security-Policy"), "allow-scripts") ||
		strings.Contains(w.Body.String(), "RTCPeer") {
		t.Errorf("%s", w.Header())
	}
	if ui := v.ui("/2026/" + v.seed.String()); strings.Contains(ui.Body.String(), "allow-scripts") {
		t.Errorf("the frame may run scripts: %s", ui.Body)
	}
}

func TestWhatMayNotBeShown(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	origin := v.seed.Origin()
	for _, c := range []struct {
		path, why string
		year      int
		code      int
	}{
		{"/hidden", "noarchive (X-Robots-Tag: noarchive)", 2029, 451},
		{"/late", "", 2029, 200},
		{"/late", "unavailable_after", 2031, 451},
		{"/never", "the crawl never saw /never", 2029, 404},
	} {
		v.now = time.Date(c.year, 1, 1, 0, 0, 0, 0, time.UTC)
		for where, w := range map[string]*httptest.ResponseRecorder{
			"UI": v.ui("/2026/" + origin + c.path), "content": v.page("/2026/" + origin + c.path),
			"raw": v.page("/2026id_/" + origin + c.path), "timemap": v.ui("/timemap/link/" + origin + c.path),
		} {
			if w.Code != c.code || !strings.Contains(w.Body.String(), c.why) || strings.Contains(w.Body.String(),
				"SECRET") != (c.code == 200 && (where == "content" || where == "raw")) {
				t.Errorf("%s of %s in %d: %d %s", where, c.path, c.year, w.Code, w.Body)
			}
		}
	}
	w := v.page("/2026/"+origin+"/never", "Sec-Fetch-Dest", "image")
	if w.Code != 404 || strings.Contains(w.Body.String(), "<") {
		t.Errorf("a picture that is not there: %d %s", w.Code, w.Body)
	}
}

func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	for _, c := range []struct {
		says string
		w    *httptest.ResponseRecorder
		want int
	}{
		{"another name", ask(v.UI(), "evil.test:8600", "/"), 421},
		{"another name for the content", ask(v.Content(), "evil.test:8601", "/"), 421},
		{"the content's name at the UI", ask(v.UI(), strings.Replace(v.content, "8601", "8600", 1), "/"), 421},
		{"the UI's name at the content", ask(v.Content(), "127.0.0.1:8601", "/"), 421},
		{"another address", ask(v.UI(), "192.0.2.1:8600", "/"), 421},
		{"another port", ask(v.UI(), "127.0.0.1:80", "/"), 421},
		{"another origin", v.ui("/", "Origin", "http://evil.test"), 403},
		{"an opaque origin", v.page("/2026/"+v.seed.String(), "Origin", "null"), 403},
		{"a picture on a page of others", v.ui("/icon.svg", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode",
			"no-cors"), 403},
		{"a link on a page of others", v.ui("/", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), 200},
		{"a service worker", v.page("/2026/"+v.seed.String(), "Service-Worker", "script"), 403},
		{"our own origin", v.page("/2026/"+v.seed.String(), "Origin", "http://"+v.content), 200},
		{"by name", ask(v.UI(), "LOCALHOST:8600", "/"), 200},
	} {
		if c.w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.says, c.w.Code, c.want)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"} {
		r := httptest.NewRequest(method, "/", nil)
		r.Host = "127.0.0.1:8600"
		w := httptest.NewRecorder()
		v.UI().ServeHTTP(w, r)
		if w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

func TestMemento(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	url := v.seed.Origin() + "/case"
	w := v.ui("/timegate/"+url, "Accept-Datetime", "Thu, 31 May 2007 20:35:00 GMT")
	at := regexp.MustCompile(`^/\d{14}/` + regexp.QuoteMeta(url) + `$`)
	if w.Code != 302 || !at.MatchString(w.Header().Get("Location")) || w.Header().Get("Vary") != "accept-datetime" ||
		!strings.Contains(w.Header().Get("Link"), `rel="original"`) {
		t.Errorf("TimeGate: %d %v", w.Code, w.Header())
	}
	if w := v.ui("/timegate/"+url, "Accept-Datetime", "yesterday"); w.Code != 400 {
		t.Errorf("a time that is none: %d", w.Code)
	}
	m := v.ui(w.Header().Get("Location"))
	if _, err := http.ParseTime(m.Header().Get("Memento-Datetime")); err != nil ||
		!strings.Contains(m.Header().Get("Link"), `rel="timemap"`) {
		t.Errorf("memento: %v", m.Header())
	}
	w = v.ui("/timemap/link/" + url)
	if w.Header().Get("Content-Type") != "application/link-format" ||
		!strings.HasPrefix(w.Body.String(), "<"+url+`>;rel="original",`) ||
		!strings.Contains(w.Body.String(), `;rel="first last memento";datetime="`) {
		t.Errorf("TimeMap: %v %s", w.Header(), w.Body)
	}
}

func TestViews(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	for target, want := range map[string]string{
		"/":                                  `<h2><a href="/`,
		"/versions/" + v.seed.String():       "<caption>",
		"/search?q=x":                        "Search is not available",
		"/2026/" + v.seed.String():           `sandbox="allow-same-origin allow-forms allow-scripts"`,
		"/style.css":                         "prefers-color-scheme",
		"/go?url=/case":                      "",
		"/go?url=" + v.seed.Host() + "/case": "",
	} {
		if w := v.ui(target); w.Code >= 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
}

// TestHostileTargets requests malformed and malicious targets: no answer is a 5xx, and none
// contains what is not in the archive.
func TestHostileTargets(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	parts := []string{"/", "..", "%2e%2e", "%00", "\x00", "etc/passwd", "crawl.db", "warc", "2026", "20261122125542",
		"id_", "http:", "http://", "https:/", v.seed.Host(), "[::1]", "[", "%", "%zz", "?", "#", "&", "=", "'", "\"",
		"<script>", "\xff\xfe", "ж", "://", "file:///etc/passwd", "timemap/link", "versions", "timegate", "search?q=",
		"go?url=", "/", "/", strings.Repeat("a", 9000), "javascript:alert(1)", "*", "\\", ";", " "}
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		target := "/"
		for range r.IntN(9) {
			target += parts[r.IntN(len(parts))]
		}
		for where, w := range map[string]*httptest.ResponseRecorder{"UI": v.ui(target),
			"content": v.page(target, "Referer", "http://"+v.content+target)} {
			if body, _ := io.ReadAll(w.Body); w.Code >= 500 || w.Code < 200 ||
				strings.Contains(string(body), "root:") || strings.Contains(w.Header().Get("Location"), "\n") {
				t.Fatalf("%s: %.200q: %d", where, target, w.Code)
			}
		}
	}
}

// A browser that does not resolve names below localhost gets the content under the host name of
// the UI, once it has had time to try.
func TestNamesBelowLocalhost(t *testing.T) {
	t.Parallel()
	v := newUnreached(t, replay.Options{})
	page := "/2026/" + v.seed.String()
	frame := func() string {
		return regexp.MustCompile(`<iframe [^>]*src="http://([^/"]+)/`).FindStringSubmatch(v.ui(page).Body.String())[1]
	}
	first := v.ui("/")
	if !strings.Contains(first.Body.String(), ".localhost:8601/reached") ||
		!strings.Contains(first.Header().Get("Content-Security-Policy"), ".localhost:8601;") {
		t.Errorf("the page does not ask: %s %s", first.Header(), first.Body)
	}
	name := frame()
	if !strings.HasSuffix(name, ".localhost:8601") || ask(v.Content(), "127.0.0.1:8601", page).Code != 421 {
		t.Errorf("the frame is at %s at once", name)
	}
	v.now = v.now.Add(time.Minute)
	if got := frame(); got != "127.0.0.1:8601" || ask(v.Content(), "127.0.0.1:8601", page).Code != 421 {
		t.Errorf("the frame is at %s although nobody reached the other", got)
	}
	late := regexp.MustCompile(`<iframe [^>]*src="http://127.0.0.1:8601([^"]+)" sandbox="([^"]+)"`).FindStringSubmatch(v.ui(page).Body.String())
	if got := ask(v.Content(), name, "/reached").Code; got != 204 {
		t.Errorf("the probe is answered with %d", got)
	}
	if got := frame(); got != name || strings.Contains(v.ui("/").Body.String(), "/reached") {
		t.Errorf("the frame is at %s although %s was reached", got, name)
	}
	if late == nil || strings.Contains(late[2], "same-origin") ||
		ask(v.Content(), "127.0.0.1:8601", late[1]).Code != 200 {
		t.Errorf("a page that was opened before shows nothing: %q", late)
	}
}

// A client that is not a browser loads no pictures, which says nothing about the names that the
// next browser resolves.
func TestFirstRequestByAProgram(t *testing.T) {
	t.Parallel()
	v := newUnreached(t, replay.Options{})
	ask(v.UI(), "127.0.0.1:8600", "/", "Accept", "*/*")
	v.now = v.now.Add(time.Hour)
	if page := v.ui("/2026/" + v.seed.String()).Body.String(); !strings.Contains(page, `.localhost:8601/2`) {
		t.Errorf("the browser's first frame is elsewhere: %s", page)
	}
}

// If pages have no host of their own, cookies of the host are neither visible nor set: their
// origin is opaque, and only a client that was given the path can request them.
func TestPublicPagesHaveAnOpaqueOrigin(t *testing.T) {
	t.Parallel()
	v := newUnreached(t, replay.Options{Public: true})
	shown := ask(v.UI(), "192.0.2.1:8600", "/2026/"+v.seed.String())
	frame := regexp.MustCompile(`<iframe [^>]*src="http://192.0.2.1:8601(/a[a-z2-7]{16})(/[^"]+)" sandbox="([^"]+)"`).FindStringSubmatch(shown.Body.String())
	if frame == nil || frame[3] != "allow-forms allow-scripts" ||
		!strings.Contains(shown.Header().Get("Content-Security-Policy"), "frame-src http://192.0.2.1:8601"+
			frame[1]+"/;") {
		t.Fatalf("%q %s %s", frame, shown.Header(), shown.Body)
	}
	page := func(target string, header ...string) *httptest.ResponseRecorder {
		return ask(v.Content(), "192.0.2.1:8601", target, header...)
	}
	body := page(frame[1] + frame[2])
	if csp := body.Header().Get("Content-Security-Policy"); body.Code != 200 || strings.Contains(csp, "same-origin") ||
		!strings.Contains(csp, "; sandbox allow-forms") || strings.Contains(csp, "frame-ancestors") {
		t.Errorf("%d %s", body.Code, csp)
	}
	if !strings.Contains(body.Body.String(), `src="`+frame[1]+`/`) || strings.Contains(body.Body.String(), `="/2`) {
		t.Errorf("a reference leads past the token: %s", body.Body)
	}
	at := frame[1] + "/2026/" + v.seed.Origin()
	for _, c := range []struct {
		says string
		w    *httptest.ResponseRecorder
		want int
	}{
		{"without the token", page("/2026/" + v.seed.String()), 421},
		{"with another", page("/aaaaaaaaaaaaaaaaa/2026/" + v.seed.String()), 421},
		{"by another name", ask(v.Content(), "evil.test:8601", at+"/case"), 421},
		{"a picture of the page", page(at+"/odd", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"), 200},
		{"a font of the page", page(at+"/file.bin", "Origin", "null", "Sec-Fetch-Site", "cross-site",
			"Sec-Fetch-Mode", "cors"), 200},
		{"another origin", page(at+"/case", "Origin", "http://evil.test"), 403},
		{"a redirect", page(at + "/old"), 301},
		{"at top level", page(at+"/case", "Sec-Fetch-Dest", "document"), 307},
		{"a service worker", page(at+"/case", "Service-Worker", "script"), 403},
	} {
		if c.w.Code != c.want {
			t.Errorf("%s: %d, want %d", c.says, c.w.Code, c.want)
		}
		if to := c.w.Header().Get("Location"); c.want == 301 && !strings.HasPrefix(to, frame[1]+"/2026/") ||
			c.want == 307 && !strings.HasPrefix(to, "http://192.0.2.1:8600/2026/") {
			t.Errorf("%s leads to %s", c.says, to)
		}
	}
	for name, want := range map[string]string{"Access-Control-Allow-Origin": "null",
		"Access-Control-Allow-Credentials": "true"} {
		if got := page(at+"/file.bin", "Origin", "null").Header().Get(name); got != want {
			t.Errorf("fonts and modules are not read: %s: %q", name, got)
		}
	}
}

// The time for a page full of words that look like rules, or of comments, is linear: twice the
// bytes take about twice the time.
func TestRewritingIsLinear(t *testing.T) {
	for says, row := range map[string]string{"rules": "speculationrules ",
		"rules in tags": "<script a=speculationrules ", "comments": "<!-- -->"} {
		took := func(n int) time.Duration {
			body := []byte(strings.Repeat(row, n/len(row)))
			began := time.Now()
			if _, err := replay.Rewrite(t.Context(), body); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		small, large := took(1<<19), took(1<<22)
		for range 9 { // other processes may slow down one of them; quadratic time still shows
			if large <= 32*small+20*time.Millisecond {
				break
			}
			small, large = min(small, took(1<<19)), min(large, took(1<<22))
		}
		if large > 32*small+20*time.Millisecond {
			t.Errorf("%s: %v for 512 KiB, %v for 4 MiB", says, small, large)
		}
	}
}

// A range of a body that is not in memory needs decoding from the start: only a few ranges are
// answered with 206, and decoding stops when the client has gone.
func TestRangesOfLongBodies(t *testing.T) {
	t.Parallel()
	v := newServed(t, replay.Options{})
	long := "/2026/" + v.seed.Origin() + "/long"
	for ranges, want := range map[string]int{"bytes=2-4": 206, "bytes=-1": 206, "bytes=9-9,0-0,3-3": 206,
		"bytes=9-9,0-0,3-3,1-1":                         200,
		"bytes=" + strings.Repeat("1-1,", 5000) + "2-2": 200, "bytes=900000-": 416} {
		w := v.page(long, "Range", ranges)
		if w.Code != want || ranges == "bytes=2-4" && w.Body.String() != "234" {
			t.Errorf("%.30s: %d, want %d; %.20q", ranges, w.Code, want, w.Body)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(gone, http.MethodGet, "/", nil)
	r.RequestURI, r.Host = long, v.content
	w := &leaves{httptest.NewRecorder(), cancel}
	if v.Content().ServeHTTP(w, r); w.Body.Len() > 64<<10 {
		t.Errorf("%d octets were read after the client had gone", w.Body.Len())
	}
}

// leaves is a client that disconnects after the first octets.
type leaves struct {
	*httptest.ResponseRecorder
	leave func()
}

func (l *leaves) Write(b []byte) (int, error) {
	l.leave()
	return l.ResponseRecorder.Write(b)
}

// Rewriting ends when the client is gone, and when the page exceeds the limit.
func TestRewritingEnds(t *testing.T) {
	page := []byte(strings.Repeat("<a href=x>", 1<<15))
	if _, err := replay.Rewrite(t.Context(), page); err == nil {
		t.Error("a page of 300 kB may grow to 33 MB")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := replay.Rewrite(gone, page); !errors.Is(err, context.Canceled) {
		t.Errorf("rewritten for nobody: %v", err)
	}
}

// Paths have no escapes that net/http refuses, and lead back to the URL.
func TestEscapesInPaths(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://h/bad%zz": "http://h/bad%25zz", "http://h/100%": "http://h/100%25", "http://h/a%20b": "http://h/a%20b",
		"http://h/%2541": "http://h/%2541", "http://h/(a,b)'%%4": "http://h/%28a%2Cb%29%27%25%254",
	} {
		got := replay.Listed(address)
		if got != want || replay.Unlisted(got) != address {
			t.Errorf("%s: %s and back %s, want %s", address, got, replay.Unlisted(got), want)
		}
		if _, err := url.Parse(got); err != nil {
			t.Error(err)
		}
	}
}
