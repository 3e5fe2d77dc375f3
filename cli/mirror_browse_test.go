//go:build unix

package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The check in a browser tells apart a page that its script empties, one that a module builds
// and one that is unchanged; the repaired mirror then works from the disk.
func TestAMirrorIsJudgedInABrowser(t *testing.T) {
	browser := os.Getenv("CURTSY_TEST_BROWSER")
	if browser == "" {
		t.Skip("CURTSY_TEST_BROWSER names no Chromium")
	}
	files := map[string]string{
		"/":             `<!doctype html><title>Home</title><h1>Home of the small site</h1><a href=plain.html>plain</a> <a href=emptied.html>emptied</a> <a href=module.html>module</a> <a href=sub/chunked.html>chunked</a> <a href=data.html>data</a><img src=p.gif>`,
		"/plain.html":   `<!doctype html><title>Plain</title><h1>A plain page</h1><a href=/>home</a>`,
		"/emptied.html": `<!doctype html><title>Emptied</title><div id=root><h1>What its script replaces</h1><p>alpha beta gamma delta epsilon zeta eta theta</p></div><script>if (location.pathname !== "/emptied.html") root.textContent = "This page couldn't load"</script>`,
		"/module.html":  `<!doctype html><title>Module</title><div id=root></div><a href=plain.html>plain</a><script type=module src=m.js></script>`,
		// A bundler knows its chunks by their paths on the site.
		"/sub/chunked.html": `<!doctype html><title>Chunked</title><link rel=preload as=script href=/lib/chunk.js><p id=c></p><script src=/lib/first.js></script>`,
		"/lib/first.js":     `window.TURBOPACK = []; c.textContent = document.currentScript.getAttribute("src"); const s = document.createElement("script"); s.src = "/lib/" + ["chunk", "js"].join("."); document.head.append(s)`,
		"/lib/chunk.js":     `c.textContent += " and made by a chunk"`,
		// What browsers refuse on file: URLs: data by fetch and XMLHttpRequest, and a worker
		// with what it loads.
		"/data.html": `<!doctype html><title>Data</title><h1>A page of data</h1><p id=f></p><p id=x></p><p id=w></p><script src=/lib/data.js></script>`,
		"/lib/data.js": `fetch("lib/words.json").then(r => r.json()).then(j => { f.textContent = "fetched " + j.words });
const q = new XMLHttpRequest(); q.open("GET", "/lib/words.json?v=1"); q.responseType = "json"; q.onload = () => { x.textContent = "requested " + q.response.words }; q.send();
const k = new Worker("lib/search-worker.js"); k.onmessage = e => { w.textContent = e.data }; k.postMessage("asked")`,
		"/lib/search-worker.js": `importScripts("stem.js"); onmessage = async e => postMessage(e.data + " " + stem("worked") + " " + (await (await fetch("words.json")).json()).words)`,
		"/lib/stem.js":          `function stem(w) { return w + " with stems" }`,
		"/lib/words.json":       `{"words": "lamps and wicks < \u2028"}`,
		"/m.js":                 `root.innerHTML = "<h1>Made by a module</h1><p>mu nu xi omicron pi rho sigma tau</p>"`,
		"/p.gif":                "GIF89a\x02\x00\x02\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x00\x00\x00\x00\x00,\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x02\x84\x51\x00;",
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript")
		}
		_, _ = w.Write([]byte(text))
	}))
	defer site.Close()
	dir, out := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "out")
	curtsy(t, "crawl", site.URL, "--archive", dir).run(t, exitDone)
	curtsy(t, "mirror", dir, out).run(t, exitDone)
	if err := os.WriteFile(filepath.Join(out, "p.gif"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := curtsy(t, "mirror", "--check", "--browser", browser, dir, out).run(t, exitFailed)
	for _, want := range []string{
		"emptied.html: disk: text: 12 of 12 words are missing: it shows \"This page couldn't load\"",
		"module.html: disk: request: m.js",
		"/: disk: pictures: 0 of 1 are shown",
		"6 of 6 pages opened: 3 right from disk, 2 only by mirror --serve, 1 in neither; 4 of 4 links lead",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("not %q:\n%s", want, said)
		}
	}
	if said := curtsy(t, "mirror", "--repair", "--browser", browser, dir, out).run(t, exitDone); !strings.Contains(said,
		"2 pages are shown without scripts now") {
		t.Error(said)
	}
	said = curtsy(t, "mirror", "--check", "--json", "--browser", browser, out).run(t, exitDone)
	if !strings.Contains(said, `"opened":6,"of":6,"disk":6,"served":0,"none":0,"clicks":4,"arrive":4`) {
		t.Error(said)
	}
	if strings.Contains(said, "is older than") {
		t.Error(said)
	}
	curtsy(t, "update", dir, "--delay", "0").run(t, exitDone)
	said = curtsy(t, "mirror", "--check", "--sample", "1", "--browser", browser, dir, out).run(t, exitDone)
	if !strings.Contains(said, "is older than the last update of") {
		t.Error(said)
	}
}
