package mirror_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"curtsy/internal/localweb"
	"curtsy/internal/weburl"
	"curtsy/publish/mirror"
	"curtsy/storage"
)

func TestHandlerServesWithTheTypesOfTheMap(t *testing.T) {
	t.Parallel()
	s := serve(t, small)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	if _, err := export(t, s, archive, out); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	served, err := mirror.NewSite(root, localweb.Names{})
	if err != nil {
		t.Fatal(err)
	}
	h := served.Handler()
	for target, want := range map[string]string{"/": "200 text/html", "/a.html": "200 text/html",
		"/../../etc/passwd": "404 text/plain", "/none": "404 text/plain", "/mirror-map.json": "200 application/json"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path, r.Host = target, "127.0.0.1:8601"
		h.ServeHTTP(w, r)
		typ, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		if got := strings.TrimSpace(strings.Fields(w.Result().Status)[0] + " " + typ); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
	other, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	origins(t, root, served)
	if _, err := mirror.NewSite(other, localweb.Names{}); !errors.Is(err, mirror.ErrNotOurs) {
		t.Errorf("a directory that is no mirror: %v", err)
	}
}

// routed is a site whose scripts route by its URLs, not by file names.
const routed = `
-- / --
<!DOCTYPE html><title>start</title><script src="/app.js"></script><a href="/about">a</a> <a href="/search.html">s</a> <a href="/old">o</a> <a href="/blog/3?ref=1">b</a> <a href="//x/">x</a> <a href="/plain">p</a> <a href="/genindex.html">g</a><script src="/app/%5Bslug%5D/%C3%A9%25.js"></script>
-- /about --
<!DOCTYPE html><title>about</title><script>1</script>
-- /blog/3?ref=1 --
<!DOCTYPE html><title>three</title>
-- /plain --
<!DOCTYPE html><title>plain</title>
-- /genindex.html --
<!DOCTYPE html><title>all words</title>
-- /old --
HTTP 301
Location: /about

-- /app.js --
HTTP 200
Content-Type: text/javascript

go("/data.json"); go("/app/%5Bslug%5D/%C3%A9%25.js")
-- /app/%5Bslug%5D/%C3%A9%25.js --
HTTP 200
Content-Type: text/javascript

1
-- /search.html --
<title>search</title>
-- /data.json --
HTTP 200
Content-Type: application/json

{}
-- /.//evil.test/ --
<!DOCTYPE html><title>evil</title>
`

// The mirror of a site with a client-side router is served at the site's own URLs.
func TestHandlerServesByURL(t *testing.T) {
	t.Parallel()
	s := serve(t, routed)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	if r, err := export(t, s, archive, out); err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r)
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	served, err := mirror.NewSite(root, localweb.Names{})
	if err != nil {
		t.Fatal(err)
	}
	h := served.Handler()
	for _, c := range []struct{ target, dest, want string }{
		{"/", "document", "200 text/html start"},
		{"/index.html", "", "301 ./"},
		{"/about", "document", "200 text/html about"},
		{"/about.html", "document", "302 /about"},
		{"/genindex.html", "document", "200 text/html all words"},
		{"/about.html", "empty", "200 text/html about"},
		{"/about.html?q=a", "document", "302 /about?q=a"},
		{"/search.html?q=a", "document", "200 text/html search"},
		{"/about?_rsc=1", "empty", "200 text/html about"},
		{"/blog/3?ref=1", "document", "200 text/html three"},
		{"/blog/3@ref=1.html", "iframe", "302 /blog/3?ref=1"},
		{"/old", "document", "302 /about.html"},
		{"/data.json?_=123", "empty", "200 application/json {}"},
		{"/app/%5Bslug%5D/%C3%A9%25.js", "script", "200 text/javascript 1"},
		{"/app/%5Bslug%5D/%C3%A9%2525.js", "script", "200 text/javascript 1"},
		{"/none", "document", "404 text/plain"},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", c.target, nil)
		r.Host = served.Token + ".localhost:8601"
		r.Header.Set("Sec-Fetch-Dest", c.dest)
		h.ServeHTTP(w, r)
		typ, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		got := fmt.Sprint(w.Code, " ", typ)
		if to := w.Header().Get("Location"); to != "" {
			got = fmt.Sprint(w.Code, " ", to)
		}
		words := strings.SplitN(c.want, " ", 3)
		if !strings.HasPrefix(c.want, got) || len(words) > 2 && !strings.Contains(w.Body.String(), words[2]) {
			t.Errorf("%s: %s %q, want %s", c.target, got, w.Body, c.want)
		}
	}
	for name, want := range map[string]string{
		"about.html":      `<script src="mirror-links.js"></script>`,
		"mirror-paths.js": `"/blog/3?ref=1":"blog/3@ref=1.html"`, "mirror-links.js": `origins = ["` + s.Origin,
	} {
		if body, err := root.ReadFile(name); err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: %v %s", name, err, body)
		}
	}
	if body, err := root.ReadFile("plain.html"); err != nil || strings.Contains(string(body), "mirror-links") {
		t.Errorf("a page without scripts: %v %s", err, body)
	}
}

// Without scripts, a page can neither be emptied by its router nor send requests.
func TestExportWithoutScripts(t *testing.T) {
	t.Parallel()
	s := serve(t, routed)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	a, err := storage.OpenRead(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r, err := mirror.Export(t.Context(), a, out, mirror.Options{Seed: weburl.MustParse(s.Origin + "/"),
		NoScripts: true})
	if err != nil || len(r.Problems) > 0 || r.NeedHTTP > 0 {
		t.Fatal(err, r)
	}
	page, err := os.ReadFile(filepath.Join(out, "about.html"))
	if err != nil || !strings.Contains(string(page), "; script-src 'none'") ||
		strings.Contains(string(page), "mirror-links") {
		t.Errorf("%v %s", err, page)
	}
	if _, err := os.Stat(filepath.Join(out, "mirror-links.js")); err == nil {
		t.Error("a script for pages that run none")
	}
}

// A page that the site itself lacks, and a name with needless escapes, are not defects of the
// mirror.
func TestExportOfWhatTheSiteLacks(t *testing.T) {
	t.Parallel()
	s := serve(t, `
-- / --
<!DOCTYPE html><title>start</title><link rel=stylesheet href=/no.css><style>@import "/no2.css"; p { background: url(/no.png) }</style>
<script src=/no.js></script><script type=module>import "/no.mjs"; import("/no3.js")</script><applet code=No.class codebase=/no/ archive=a.jar></applet>
<script src=/run.js></script><link rel=modulepreload href=/no4.js><a href="/page">p</a> <a href="/%70age">q</a>
-- /page --
<!DOCTYPE html><title>page</title>page
-- /%70age --
<!DOCTYPE html><title>page</title>page
-- /run.js --
HTTP 200
Content-Type: text/javascript

import("./no5.js"); new URL("no6.js", import.meta.url); r.u=e=>"js/"+e+"."+{1:"aa"}[e]+".js"
`)
	archive, out := crawl(t, s), filepath.Join(t.TempDir(), "out")
	r, err := export(t, s, archive, out)
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r)
	}
	files, err := filepath.Glob(filepath.Join(out, "*age*.html"))
	if err != nil || len(files) != 1 {
		t.Errorf("/page and /%%70age are %v (%v)", files, err)
	}
}

// origins sends requests as browsers and other programs do, with each Host and without one.
func origins(t *testing.T, root *os.Root, own *mirror.Site) {
	t.Helper()
	public, err := mirror.NewSite(root, localweb.Names{Public: true})
	if err != nil {
		t.Fatal(err)
	}
	const opaque, scripts = "no origin", "own origin"
	for _, c := range []struct {
		says, want   string
		site         *mirror.Site
		host, target string
		header       [2]string
	}{
		{"a browser", "307 http://TOKEN.localhost:8601/a.html?x", own, "127.0.0.1:8601", "/a.html?x",
			[2]string{"Sec-Fetch-Dest", "document"}},
		{"a browser at the name", "200 " + scripts, own, "TOKEN.localhost:8601", "/a",
			[2]string{"Sec-Fetch-Dest", "document"}},
		{"a browser that does not know it", "200 " + opaque, own, "127.0.0.1:8601", "/TOKEN/a",
			[2]string{"Sec-Fetch-Dest", "document"}},
		{"by the file's name", "302 /TOKEN/a", own, "127.0.0.1:8601", "/TOKEN/a.html",
			[2]string{"Sec-Fetch-Dest", "document"}},
		{"its pictures", "200 " + opaque, own, "127.0.0.1:8601", "/TOKEN/a.html",
			[2]string{"Sec-Fetch-Site", "cross-site"}},
		{"its modules", "200 " + opaque, own, "127.0.0.1:8601", "/TOKEN/a.html", [2]string{"Origin", "null"}},
		{"a program", "200 " + opaque, own, "127.0.0.1:8601", "/a.html", [2]string{}},
		{"a picture on a page of others", "403", own, "127.0.0.1:8601", "/a.html",
			[2]string{"Sec-Fetch-Site", "cross-site"}},
		{"a script of others", "403", own, "127.0.0.1:8601", "/a.html", [2]string{"Origin", "http://evil.test"}},
		{"rebinding", "421", own, "evil.test:8601", "/a.html", [2]string{}},
		{"another token", "421", own, "aaaa.localhost:8601", "/a.html", [2]string{}},
		{"an address of the machine", "421", own, "192.0.2.1:8601", "/a.html", [2]string{}},
		{"public", "307 /TOKEN/a.html", public, "192.0.2.1:8601", "/a.html", [2]string{"Sec-Fetch-Dest", "document"}},
		{"public pages", "200 " + opaque, public, "192.0.2.1:8601", "/TOKEN/a",
			[2]string{"Sec-Fetch-Dest", "document"}},
		{"public at the name", "421", public, "TOKEN.localhost:8601", "/a.html", [2]string{}},
	} {
		in := strings.NewReplacer("TOKEN", c.site.Token)
		r, w := httptest.NewRequest("GET", in.Replace(c.target), nil), httptest.NewRecorder()
		r.Host = in.Replace(c.host)
		if c.header[0] != "" {
			r.Header.Set(c.header[0], c.header[1])
		}
		c.site.Handler().ServeHTTP(w, r)
		got := strings.TrimSpace(strings.Fields(w.Result().Status)[0] + " " + w.Header().Get("Location"))
		if policy := strings.Join(w.Header().Values("Content-Security-Policy"), "; "); w.Code == 200 {
			got += " " + scripts
			if !strings.Contains(policy, "default-src 'self'") {
				t.Errorf("%s: policy %q", c.says, policy)
			}
			if strings.Contains(policy, "sandbox allow-scripts") && !strings.Contains(policy, "allow-same-origin") {
				got = "200 " + opaque
			}
		}
		if want := in.Replace(c.want); got != want {
			t.Errorf("%s: %s, want %s", c.says, got, want)
		}
	}
	r, w := httptest.NewRequest("POST", "/a.html", nil), httptest.NewRecorder()
	r.Host = "127.0.0.1:8601"
	if own.Handler().ServeHTTP(w, r); w.Code != 405 {
		t.Errorf("a form: %d", w.Code)
	}
}
