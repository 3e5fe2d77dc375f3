package render

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	if got, err := Find("ws://127.0.0.1:9222/"); err != nil || got != "ws://127.0.0.1:9222/" {
		t.Errorf("an address: got %q, %v", got, err)
	}
	if _, err := Find("no-such-browser"); !errors.Is(err, ErrNoBrowser) {
		t.Errorf("a program that is not there: got %v, want ErrNoBrowser", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(""); !errors.Is(err, ErrNoBrowser) {
		t.Errorf("an empty path: got %v, want ErrNoBrowser", err)
	}
}

func TestHeadsAreGivenAsTheyCameButForTheirCoding(t *testing.T) {
	got := string(lines(&Response{Header: http.Header{
		"Content-Type": {"text/html"}, "Content-Encoding": {"gzip"}, "Content-Length": {"3"},
		"Set-Cookie": {"a=1", "b=\xff"}, "X-Broken": {"a\r\nb"},
	}}))
	if want := "Content-Type: text/html\x00Set-Cookie: a=1\x00Set-Cookie: b=\xff\x00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// site answers from memory and refuses everything else.
type site struct {
	mu    sync.Mutex
	files map[string]string
	asked []string
	delay time.Duration
}

func (s *site) fetch(ctx context.Context, r Request) (*Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL)
	body, ok := s.files[strings.TrimPrefix(r.URL, "http://site.test")]
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("denied by robots.txt")
	}
	if !r.Main {
		time.Sleep(s.delay)
	}
	typ := http.DetectContentType([]byte(body))
	for ext, t := range map[string]string{".js": "text/javascript", ".json": "application/json", ".css": "text/css"} {
		if strings.HasSuffix(r.URL, ext) {
			typ = t
		}
	}
	return &Response{Status: 200, Header: http.Header{"Content-Type": {typ}}, Body: []byte(body)}, nil
}

// testBrowser starts the Chromium named by CURTSY_TEST_BROWSER.
func testBrowser(t *testing.T, o Options) *Browser {
	t.Helper()
	path := os.Getenv("CURTSY_TEST_BROWSER")
	if path == "" {
		t.Skip("CURTSY_TEST_BROWSER names no Chromium")
	}
	o.Browser, o.Dir, o.UserAgent = path, t.TempDir(), "curtsy/test"
	b := New(o)
	t.Cleanup(b.Close)
	return b
}

func TestChromiumShowsWhatScriptsMake(t *testing.T) {
	b := testBrowser(t, Options{})
	s := &site{delay: 200 * time.Millisecond, files: map[string]string{
		"/":           `<!doctype html><html><body><div id=root></div><script type=module src=/app.js></script></body></html>`,
		"/app.js":     `import("/lazy.js").then(m => m.show()); fetch("/denied.json").catch(() => document.title = "denied"); alert("wait"); open("/popup"); new WebSocket("ws://127.0.0.1:1/")`,
		"/lazy.js":    `export async function show() { const list = await (await fetch("/items.json")).json(); await new Promise(r => setTimeout(r, 300)); root.innerHTML = list.map(i => "<a href=/item/" + i + ">item</a>").join("") + "<p>" + navigator.userAgent + "</p>"; const d = root.appendChild(document.createElement("div")); d.attachShadow({mode: "open"}).innerHTML = "<a href=/shadow>s</a>"; location.href = "/away" }`,
		"/items.json": `[1,2,3]`,
	}}
	p, err := b.Render(t.Context(), "http://site.test/", s.fetch)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<!DOCTYPE html>", `href="/item/3"`, "curtsy/test", `href="/shadow"`,
		"<title>denied</title>"} {
		if !strings.Contains(string(p.HTML), want) {
			t.Errorf("the document lacks %s", want)
			t.Log(string(p.HTML[:min(len(p.HTML), 2000)]))
		}
	}
	if p.Cut != "" || p.URL != "http://site.test/" || !slices.Equal(p.Moved, []string{"http://site.test/away"}) {
		t.Errorf("cut %q, url %q, moved %q", p.Cut, p.URL, p.Moved)
	}
	if len(p.Missing) != 1 || p.Missing[0] != (Missing{"http://site.test/denied.json", "denied by robots.txt"}) {
		t.Errorf("missing %v", p.Missing)
	}
	if slices.Contains(s.asked, "http://site.test/popup") {
		t.Error("a window was opened")
	}
}

// A page that leaves for another by itself, or when it is expanded, stays the page, and is not waited for.
func TestChromiumStaysOnThePage(t *testing.T) {
	b := testBrowser(t, Options{})
	s := &site{files: map[string]string{
		"/post":    `<p>kept<form id=f method=post action=/to><input name=a></form><script>f.submit()</script>`,
		"/more":    `<p>kept<form method=post action=/to><button>Load more</button></form>`,
		"/get":     `<p>kept<form id=f action=/to></form><script>f.submit()</script>`,
		"/replace": `<p>kept<script>location.replace("/to")</script><p>more`,
		"/href":    `<p>kept<script>location.href = "/to.zip"</script><img src=/none.png>`,
	}}
	for path := range s.files {
		p, err := b.Render(t.Context(), "http://site.test"+path, s.fetch)
		if err != nil || p.Cut != "" || p.URL != "http://site.test"+path || !strings.Contains(string(p.HTML), "<p>kept") {
			t.Errorf("%s: %v, %+v, %.300s", path, err, p, p.HTML)
		}
	}
}

func TestChromiumIsBounded(t *testing.T) {
	b := testBrowser(t, Options{Timeout: time.Second, MaxAsked: 20})
	s := &site{files: map[string]string{
		"/loop":  `<script>let n = 0; setInterval(() => fetch("/x.json?" + n++), 5)</script>`,
		"/spin":  `<script>for (;;);</script>`,
		"/fine":  `<p>fine</p>`,
		"/crash": `<script>location.href = "chrome://crash"</script>`,
	}}
	p, err := b.Render(t.Context(), "http://site.test/loop", s.fetch)
	if err != nil || len(s.asked) > 21 || p.Cut == "" {
		t.Errorf("endless requests: asked %d, %+v, %v", len(s.asked), p, err)
	}
	if _, err := b.Render(t.Context(), "http://site.test/spin", s.fetch); err == nil {
		t.Error("an endless script was rendered")
	}
	if p, err := b.Render(t.Context(), "http://site.test/fine", s.fetch); err != nil ||
		!strings.Contains(string(p.HTML), "fine") {
		t.Errorf("after an endless script: %v", err)
	}
}

func TestChromiumIsStartedAnew(t *testing.T) {
	b := testBrowser(t, Options{})
	s := &site{files: map[string]string{"/": "<p>here</p>"}}
	for range 2 {
		if p, err := b.Render(t.Context(), "http://site.test/", s.fetch); err != nil ||
			!strings.Contains(string(p.HTML), "here") {
			t.Fatal(err)
		}
		kill(t, b)
	}
}

// Requests that would bypass the pause do not leave the browser.
func TestChromiumAsksNobody(t *testing.T) {
	b := testBrowser(t, Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var met sync.WaitGroup
	var n int
	met.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n++
			c.Close()
		}
	})
	out := l.Addr().String()
	s := &site{files: map[string]string{"/": strings.ReplaceAll(`<!doctype html><link rel=dns-prefetch href=//OUT><link rel=preconnect href=http://OUT><link rel=prefetch href=http://OUT/p>
<script type=speculationrules>{"prefetch":[{"urls":["http://OUT/s"]}],"prerender":[{"urls":["http://OUT/r"]}]}</script>
<img src=http://OUT/i><iframe src=http://OUT/f></iframe><iframe srcdoc="<img src=http://OUT/d>"></iframe><a ping=http://OUT/a href="#" id=a>a</a>
<form id=f action=http://OUT/post method=post target=_blank></form>
<script>
new WebSocket("ws://OUT/w"); navigator.sendBeacon("http://OUT/b", "x"); a.click(); f.submit(); window.open("http://OUT/o");
new Worker(URL.createObjectURL(new Blob(['fetch("http://OUT/wf"); new WebSocket("ws://OUT/ww"); importScripts("http://OUT/wi")'])));
new EventSource("http://OUT/e"); fetch("http://OUT/x", {keepalive: true}).catch(() => 0); new Image().src = "http://OUT/n";
if (globalThis.RTCPeerConnection) document.title = "rtc";
if (navigator.serviceWorker) document.title = "service worker";
if (globalThis.WebTransport) new WebTransport("https://OUT/t");
</script>`, "OUT", out)}}
	s.files["http://127.0.0.1:1/"] = s.files["/"]
	p, err := b.Render(t.Context(), "http://127.0.0.1:1/", s.fetch)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(p.HTML), "<title>") {
		t.Error("there is still WebRTC, or a service worker")
	}
	for _, want := range []string{"i", "f", "d", "x", "n"} {
		if !slices.Contains(s.asked, "http://"+out+"/"+want) {
			t.Errorf("/%s was not asked of the crawl", want)
		}
	}
	b.Close()
	l.Close()
	met.Wait()
	if n != 0 {
		t.Errorf("%d connections left the browser", n)
	}
	t.Logf("asked of the crawl: %q", s.asked)
}

// However much output a page produces, little of it is transferred here, and the next page is still
// rendered.
func TestChromiumTellsLittle(t *testing.T) {
	b := testBrowser(t, Options{Timeout: 5 * time.Second})
	huge := `const huge = "x".repeat(200 << 20);`
	for name, script := range map[string]string{
		"a height that is a text": huge + `Object.defineProperty(Element.prototype, "scrollHeight", {get() { return huge }})`,
		"a URL of data":           huge + `fetch("data:text/plain," + huge).catch(() => 0)`,
		"a line for the console":  huge + `console.log(huge)`,
		"a body that is sent":     huge + `fetch("/x", {method: "POST", body: huge}).catch(() => 0)`,
		"a promise":               huge + `Promise.resolve = () => huge; globalThis.setTimeout = () => huge`,
	} {
		s := &site{files: map[string]string{"/": "<!doctype html><p>shown<script>" + script + "</script>",
			"/next": "<!doctype html><p>next"}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := b.Render(t.Context(), "http://site.test/", s.fetch)
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 100 {
			t.Errorf("%s: %d MB were taken from the page (%v)", name, took, err)
		}
		if p, err := b.Render(t.Context(), "http://site.test/next", s.fetch); err != nil ||
			!strings.Contains(string(p.HTML), "next") {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

// A page is seen as a reader sees it, over HTTP and from disk, and its links can be clicked.
func TestChromiumSeesAndClicks(t *testing.T) {
	b := testBrowser(t, Options{Timeout: 10 * time.Second})
	dir := t.TempDir()
	pages := map[string]string{
		"a.html": `<!doctype html><p>One   page<p hidden>not seen</p><img src=p.gif><img src=none.gif><a href=x.zip download>z</a><a href=b.html>on</a><div id=d></div>` +
			`<script>d.textContent = "by script"; fetch("data.json").then(r => r.text()).then(t => d.textContent = t).catch(() => 0)</script><script src=/outside.js></script>`,
		"b.html":    `<!doctype html><p>The other page`,
		"data.json": `data`,
		"p.gif":     "GIF89a\x02\x00\x02\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x02\x84\x51\x00;",
	}
	s := &site{files: map[string]string{}}
	for name, text := range pages {
		s.files["/"+name] = text
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	disk := "file://" + dir + "/"
	for _, c := range []struct {
		base, text string
		failed     []string
	}{
		{"http://site.test/", "One page zon data",
			[]string{"http://site.test/none.gif", "http://site.test/outside.js"}},
		{disk, "One page zon by script", []string{"file:///outside.js", disk + "none.gif"}},
	} {
		l := Looking{Answer: s.fetch, File: func(u string) bool { return strings.HasPrefix(u, disk) },
			Press: func(s *Seen) int { return slices.Index(s.Links, c.base+"b.html") }}
		first, after, err := b.Look(t.Context(), c.base+"a.html", l)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(first.Text), " ")
		if text != c.text || first.Pictures != 1 || !slices.Equal(first.Failed, c.failed) || first.Links[0] != "" {
			t.Errorf("%s: %+v", c.base, first)
		}
		if after == nil || after.URL != c.base+"b.html" || after.Text != "The other page" {
			t.Errorf("%s: after the click: %+v", c.base, after)
		}
	}
}

// A page is expanded as a reader would; the window's height is not written into it, and what its router
// loads is requested once.
func TestChromiumUnfoldsAndTakesLinks(t *testing.T) {
	b := testBrowser(t, Options{})
	s := &site{files: map[string]string{
		"/": `<!doctype html><div id=hero>hero</div><a href=/two>two</a><a href=/plain>plain</a><details id=d><summary>s</summary><p id=in></p></details>
<div role=tab aria-selected=true id=t1>one</div><div role=tab aria-selected=false id=t2>two</div><div id=panel>first</div><ul id=list></ul><button id=more>Load more</button><div id=end style="margin-top:3000px">end</div>
<script>
const get = (u) => fetch(u).then(r => r.json());
d.addEventListener("toggle", () => d.open && !d.done && (d.done = 1) && get("/details.json").then(v => document.getElementById("in").textContent = "inside " + v));
t2.onclick = () => { t2.setAttribute("aria-selected", true); t1.setAttribute("aria-selected", false); get("/tab.json").then(v => panel.textContent = v) };
t1.onclick = () => panel.textContent = "first";
let n = 0; more.onclick = () => { get("/more.json?" + ++n).then(v => list.insertAdjacentHTML("beforeend", "<li>item " + n)); if (n > 2) more.remove() };
let endless = 0; new IntersectionObserver((e) => { if (e[0].isIntersecting && endless < 3) get("/endless.json?" + ++endless).then(v => end.insertAdjacentHTML("beforebegin", "<p style='height:1200px'>part " + endless)) }).observe(end);
addEventListener("scroll", () => {}); const size = () => hero.style.minHeight = innerHeight + "px"; addEventListener("resize", size); size();
document.addEventListener("click", (e) => { if (e.target.pathname === "/two") { e.preventDefault(); history.pushState(0, "", "/two"); import("/two.js"); get("/two.json") } });
</script>`,
		"/details.json": "1", "/tab.json": "2", "/more.json?1": "1", "/more.json?2": "1", "/more.json?3": "1",
		"/endless.json?1": "1", "/endless.json?2": "1", "/endless.json?3": "1",
		"/two.json": "2", "/two.js": "export default 1",
	}}
	p, err := b.Render(t.Context(), "http://site.test/", s.fetch)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"inside 1", "item 3", "part 1", ">first<", "min-height: 1024px",
		"<details id=\"d\">"} {
		if !strings.Contains(string(p.HTML), want) {
			t.Errorf("the document lacks %s", want)
		}
	}
	for _, want := range []string{"tab.json", "two.json", "two.js"} {
		if !slices.Contains(s.asked, "http://site.test/"+want) {
			t.Errorf("/%s was not asked for", want)
		}
	}
	if len(p.Moved) != 0 || p.Cut != "" || p.URL != "http://site.test/" {
		t.Errorf("moved %q, cut %q, url %q", p.Moved, p.Cut, p.URL)
	}
	before := len(s.asked)
	if _, err := b.Render(t.Context(), "http://site.test/", s.fetch); err != nil ||
		slices.Contains(s.asked[before:], "http://site.test/two.json") {
		t.Errorf("a link was taken twice: %v", err)
	}
}
