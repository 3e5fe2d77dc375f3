package crawler_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/rebuild"
	"curtsy/crawler/render"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/sitetest"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/mirror"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// scripted is a fake browser that knows what each page's scripts request, and adds links to what the
// responses name.
type scripted struct {
	asks map[string][]string // by path
	mu   sync.Mutex
	why  map[string]string // by URL, why no response was given
	body map[string]string
}

func (b *scripted) Close() {}

func (b *scripted) Render(ctx context.Context, url string, answer render.Fetch) (*render.Page, error) {
	u, _ := weburl.Parse(url)
	p := &render.Page{URL: url, HTML: []byte("<!doctype html><title>" + u.Path() + "</title>")}
	for _, path := range b.asks[u.Path()] {
		q := u.Origin() + path
		p.Asked++
		r, err := answer(ctx, render.Request{URL: q, Type: "Fetch"})
		b.mu.Lock()
		if err != nil {
			b.why[path] = err.Error()
			p.Missing = append(p.Missing, render.Missing{URL: q, Why: err.Error()})
		} else {
			b.body[path] = fmt.Sprint(r.Status, " ", string(r.Body))
			for l := range strings.FieldsSeq(string(r.Body)) {
				p.HTML = append(p.HTML, "<a href="+l+">link</a>"...)
			}
		}
		b.mu.Unlock()
	}
	return p, ctx.Err()
}

func TestPagesThatScriptsMake(t *testing.T) {
	t.Parallel()
	const shell = `<!doctype html><title>app</title><div id=root></div><script src=/app.js></script>`
	app := func() page { return html(shell) }
	script := page{header: []string{"Content-Type: text/javascript"}}
	s := newSite(t, map[string]page{
		"/robots.txt": text("User-agent: *\nDisallow: /api/secret"),
		"/":           app(), "/one": app(), "/two": app(), "/three": app(),
		"/plain":    links("/"),
		"/app.js":   script,
		"/api/list": text("/one /two"), "/api/two": text("/three /plain"),
		"/api/kept": text("/four").with("X-Robots-Tag: noarchive"),
	})
	b := &scripted{why: map[string]string{}, body: map[string]string{}, asks: map[string][]string{
		"/":      {"/app.js", "/api/list", "/api/secret/1", "/api/gone"},
		"/one":   {"/app.js", "/api/list"},
		"/two":   {"/app.js", "/api/two", "/api/kept"},
		"/plain": {"/api/never"},
	}}
	o := options(s.URL + "/")
	o.Render, o.Browser, o.Pace.Concurrency = crawler.RenderBare, b, 2
	dir := filepath.Join(t.TempDir(), "archive")
	if r := crawl(t, dir, o); r.Counts.Failed != 1 || r.Counts.Queued() != 0 {
		t.Errorf("got %+v, want /api/gone to fail and nothing else: %q", r.Counts, s.requests())
	}
	for _, target := range []string{"/", "/one", "/two", "/three", "/plain", "/app.js", "/api/list", "/api/two",
		"/api/kept", "/api/gone"} {
		if n := s.times(target); n != 1 {
			t.Errorf("%s was asked for %d times, want once", target, n)
		}
	}
	if s.times("/api/secret/1") != 0 || s.times("/api/never") != 0 {
		t.Error("robots.txt does not hold for the browser, or a page was rendered that needs no scripts")
	}
	for path, want := range map[string]string{"/api/secret/1": "robots.txt", "/api/kept": "noarchive"} {
		if !strings.Contains(b.why[path], want) {
			t.Errorf("%s: %q, want the reason to name %s", path, b.why[path], want)
		}
	}
	if got := b.body["/api/gone"]; !strings.HasPrefix(got, "404 ") {
		t.Errorf("an error of the site: got %q, want it as it came", got)
	}
	crawltest.Sound(t, dir)
	want := rendered(t, dir)
	if len(want) != 4 || !strings.Contains(want["/two"], "href=/three") {
		t.Errorf("kept %q, want the four pages that scripts make", want)
	}
	if _, err := rebuild.Archive(dir, o); err != nil {
		t.Fatal(err)
	}
	crawltest.Sound(t, dir)
	if got := rendered(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("after a rebuild: %q, want %q", got, want)
	}
	asked := len(s.log)
	if crawl(t, dir, o); len(s.log) != asked {
		t.Errorf("after a rebuild %q are asked for again", s.requests()[asked:])
	}
}

// A request beyond the limit is refused at once, so that the page does not wait for it.
func TestAPageAsksForMoreThanTheArchiveMayKnow(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/": html(`<!doctype html><title>app</title><div id=root></div><script></script>`),
		"/api/1": text("1")})
	b := &scripted{why: map[string]string{}, body: map[string]string{},
		asks: map[string][]string{"/": {"/api/1", "/api/2", "/api/3", "/api/2"}}}
	o := options(s.URL + "/")
	o.Render, o.Browser, o.Traps.Discovered = crawler.RenderBare, b, 3
	crawl(t, filepath.Join(t.TempDir(), "archive"), o)
	if got := b.body["/api/1"]; got != "200 1" {
		t.Errorf("/api/1: %q", got)
	}
	for _, path := range []string{"/api/2", "/api/3"} {
		if got := b.why[path]; got != "the archive knows as many URLs as it may" {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// routed is a fake browser in which each page links to what its scripts show for fragments.
type routed struct{ opened []string }

func (b *routed) Close() {}

func (b *routed) Render(_ context.Context, url string, _ render.Fetch) (*render.Page, error) {
	b.opened = append(b.opened, url)
	u, err := weburl.ParsePage(url)
	return &render.Page{URL: url, Routes: []string{u.Page().String() + "#/a", u.Page().String() + "#/b?id=part",
		u.Page().String() + "#/", u.Page().String() + "#!"},
		HTML: []byte(`<!doctype html><title>at ` + u.Route() +
			`</title><a href="#/">home</a><a href="#/a">a</a><a href="#/b?id=part">b</a><a href="#/none">none</a><a href="#place">place</a>`)}, err
}

// What scripts show for a fragment is a page of its own: it is rendered once, kept, found again by a
// rebuild, and exported to a mirror file whose links work.
func TestRoutesArePages(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/app/": html(`<!doctype html><title>app</title><div id=root></div><script></script>`)})
	b := &routed{}
	o := options(s.URL + "/app/")
	o.Render, o.Browser = crawler.RenderBare, b
	dir, out := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "out")
	crawl(t, dir, o)
	want := fmt.Sprint([]string{s.URL + "/app/", s.URL + "/app/#/a", s.URL + "/app/#/b"})
	if fmt.Sprint(b.opened) != want {
		t.Errorf("opened %q, want %s", b.opened, want)
	}
	if _, err := rebuild.Archive(dir, o); err != nil {
		t.Fatal(err)
	}
	crawltest.Sound(t, dir)
	if crawl(t, dir, o); len(b.opened) != 3 {
		t.Errorf("after a rebuild opened %q", b.opened[3:])
	}
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if _, err := mirror.Export(t.Context(), a, out, mirror.Options{Seed: o.Seed}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"index.html": `at </title><a href="index.html">home</a><a href="a.html">a</a><a href="b.html#part">b</a><a href="#/none">none</a><a href="#place">place</a>`,
		"b.html":     `at #/b</title><a href="index.html">home</a><a href="a.html">a</a><a href="#part">b</a><a href="#/none">none</a><a href="#place">place</a>`,
	} {
		if got, err := os.ReadFile(filepath.Join(out, "app", name)); err != nil ||
			!strings.Contains(string(got), want) {
			t.Errorf("%s: %v %s", name, err, got)
		}
	}
}

// A site that shows nothing without scripts is recognised; a page that is merely short, or has few
// links, is not.
func TestPagesThatShowNothingAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"a shell":      {`<!doctype html><title>app</title><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div><script type=module src=/a.js></script>`, 1},
		"a short page": {`<!doctype html><title>hello</title><p>It works!</p>`, 0},
		"a text":       {`<!doctype html><script>count()</script><p>` + strings.Repeat("words and words ", 30), 0},
		"a menu":       {`<!doctype html><script>count()</script><a href=/a>a</a><a href=/b>b</a><a href=/c>c</a><a href=/d>d</a>`, 0},
	} {
		s := newSite(t, map[string]page{"/": html(c.body)})
		o := options(s.URL + "/")
		o.Limits.Pages = 1
		if r := crawltest.Run(t, t.Context(), filepath.Join(t.TempDir(), "archive"), o,
			time.Minute); r.State.Bare != c.want {
			t.Errorf("%s: %d pages show nothing, want %d", name, r.State.Bare, c.want)
		}
	}
}

// rendered returns the archived documents of rendered pages, as published.
func rendered(t *testing.T, dir string) map[string]string {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	m := map[string]string{}
	err = sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error {
		if v.Rendered == nil {
			return nil
		}
		u, _ := weburl.Parse(v.URL)
		b, err := publish.OpenPage(a, v)
		if err != nil {
			return err
		}
		defer b.Close()
		var text strings.Builder
		_, err = io.Copy(&text, b)
		m[u.Path()] = text.String()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}
