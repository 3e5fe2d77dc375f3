package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"curtsy/internal/testkit/crawltest"
)

// pageWith is a page of the test site with an X-Robots-Tag; "" for none.
func pageWith(directive, name string) string {
	return fmt.Sprintf("HTTP 200\nContent-Type: text/html\nX-Robots-Tag: %s\n\n<title>Page %s</title><p>Opening OLD-%s\n",
		directive, name, name)
}

// What an owner says in a newer archive withdraws the copies of an older one that is served beside it,
// in each way that shows them. An answer that is not the page withdraws nothing.
func TestALaterArchiveWithdrawsFromAnEarlierOne(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"archive": "noarchive", "index": "noindex", "snippet": "max-snippet:3", "public": "all"}
	site, seed := crawltest.Site(t, "-- / --\n<title>Home</title>\n")
	home := "<title>Home</title>"
	for name := range pages {
		home += `<a href="/` + name + `">x</a>`
		if err := site.Set("/"+name, pageWith("all", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := site.Set("/", home+`<a href="/gone">x</a>`); err != nil {
		t.Fatal(err)
	}
	if err := site.Set("/gone", pageWith("all", "gone")); err != nil {
		t.Fatal(err)
	}
	older, newer := filepath.Join(t.TempDir(), "older"), filepath.Join(t.TempDir(), "newer")
	crawltest.Archive(t, older, seed)
	for name, directive := range pages {
		if err := site.Set("/"+name, strings.Replace(pageWith(directive, name), "OLD", "NEW", 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := site.Set("/gone", "HTTP 404\nX-Robots-Tag: noarchive\n\n"); err != nil {
		t.Fatal(err)
	}
	crawltest.Archive(t, newer, seed)

	s := serverOf(t, older, newer)
	get := func(path string) (int, string) { return getAt(s.UI(), "127.0.0.1:28600", path) }
	if code, text := get("/2026/" + seed.String() + "archive"); code != http.StatusUnavailableForLegalReasons ||
		!strings.Contains(text, "noarchive") {
		t.Errorf("replay of what became noarchive: %d", code)
	}
	for _, name := range []string{"index", "public", "gone"} {
		if code, _ := get("/2026/" + seed.String() + name); code != http.StatusOK {
			t.Errorf("replay of %s: %d", name, code)
		}
	}
	_, timemap := get("/timemap/link/" + seed.String() + "archive")
	if strings.Contains(timemap, "datetime=") {
		t.Errorf("the timemap of what became noarchive: %s", timemap)
	}
	_, lines := get("/cdx?matchType=host&url=" + seed.Host())
	for name, want := range map[string]int{"archive": 0, "index": 0, "snippet": 2, "public": 2, "gone": 1} {
		if got := strings.Count(lines, "/"+name+`"`); got != want {
			t.Errorf("CDX of %s: %d lines, want %d", name, got, want)
		}
	}

	search := func() string { _, text := get("/search?q=opening"); return text }
	assistant := assistantOf(t, []string{older, newer})
	_, hits, err := callTool(t.Context(), assistant, "search", map[string]any{"query": "opening"})
	if err != nil {
		t.Fatal(err)
	}
	for of, text := range map[string]string{"serve": search(), "mcp": hits} {
		for name, want := range map[string]bool{"archive": false, "index": false, "snippet": false, "public": true, "gone": true} {
			if got := strings.Contains(text, "OLD-"+name); got != want {
				t.Errorf("%s finds the passage of %s: %t, want %t", of, name, got, want)
			}
		}
		if !strings.Contains(text, "Page snippet") {
			t.Errorf("%s does not find the page whose passage is limited", of)
		}
	}
	for _, name := range []string{"archive", "snippet"} {
		refused, text, err := callTool(t.Context(), assistant, "read", map[string]any{"url": seed.String() + name})
		if err != nil || !refused || strings.Contains(text, "OLD") {
			t.Errorf("mcp reads %s: %s, %v", name, text, err)
		}
	}
}

// assistantOf returns a session with the MCP server of archives, which ends with the test.
func assistantOf(t *testing.T, dirs []string) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	ended := make(chan error)
	ctx, stop := context.WithCancel(context.Background())
	go func() { ended <- serveAssistant(ctx, &ui{err: &bytes.Buffer{}}, dirs, ours) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the end: %v", err)
		}
	})
	return session
}

// A page that was fetched under another form of its URL is shown at each of them: after Clean-param, with the
// parameters in another order, with a session id.
func TestServeShowsAPageAtItsOtherForms(t *testing.T) {
	t.Parallel()
	_, seed := crawltest.Site(t, `
-- /robots.txt --
User-agent: *
Clean-param: ref /p
-- / --
<a href="/p?ref=1&id=5">a</a> <a href="/o?b=2&a=1">b</a>
-- /p?id=5 --
<title>folded</title>
-- /o?b=2&a=1 --
<title>ordered</title>
`)
	dir := filepath.Join(t.TempDir(), "site")
	if code := Main([]string{"crawl", seed.String(), "--archive", dir, "--delay", "0s"}, strings.NewReader(""), io.Discard, io.Discard); code != 0 {
		t.Fatalf("crawl ended with %d", code)
	}
	s := serverOf(t, dir)
	for target, want := range map[string]int{"p?ref=1&id=5": 200, "p?id=5&ref=2": 200, "p?id=6": 404, "o?b=2&a=1": 200,
		"o?a=1&b=2": 200, "o?a=1&b=3": 404} {
		if got, _ := getAt(s.UI(), "127.0.0.1:28600", "/2026/"+seed.String()+target); got != want {
			t.Errorf("%s: %d, want %d", target, got, want)
		}
	}
}
