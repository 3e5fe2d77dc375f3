package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"curtsy/internal/testkit/crawltest"
)

// askedSite is a site some of whose pages refuse use by AI models.
const askedSite = `
-- /robots.txt --
User-agent: *
Allow: /
Content-Usage: /no/ ai-input=n
-- / --
<!DOCTYPE html><html lang=en><title>Manual</title><nav><a href="/nav">navigation</a></nav><main><h1>Manual</h1><p>Opening hours.
<a href="long">long</a> <a href="no/x">no</a> <a href="moved">m</a> <a href="short">s</a> <a href="gone">g</a><p data-nosnippet>SECRET-SPAN</p>
<h2>Table</h2><table><tr><th>Day<th>Hours<tr><td>Mon<td>9</table><pre># code</pre></main>
-- /long --
<title>Long</title><h1>Long</h1>LONG<h2>End</h2><p>the end
-- /no/x --
<title>Private</title><p>Opening SECRET-AI-INPUT
-- /moved --
HTTP 301
Location: /long

-- /short --
HTTP 200
X-Robots-Tag: max-snippet:10
Content-Type: text/html

<title>Short</title><p>Opening SECRET-SNIPPET
-- /gone --
HTTP 404

`

// callTool calls a tool, and retries while the search index is being built.
func callTool(ctx context.Context, s *mcp.ClientSession, name string, args map[string]any) (refused bool, text string,
	err error) {
	for err == nil && (text == "" || strings.Contains(text, "index is being built")) {
		var r *mcp.CallToolResult
		if r, err = s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args}); err == nil {
			refused, text = r.IsError, r.Content[0].(*mcp.TextContent).Text
		}
	}
	return refused, text, err
}

func TestAnAssistantAsks(t *testing.T) {
	t.Parallel()
	paragraph := "<p>" + strings.Repeat("words and more words ", 40) + "</p>"
	site := strings.Replace(askedSite, "LONG", strings.Repeat(paragraph, 12), 1)
	_, seed := crawltest.Site(t, site)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	before, err := os.ReadFile(filepath.Join(dir, "crawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := mcp.NewInMemoryTransports()
	ended := make(chan error)
	ctx, stop := context.WithCancel(t.Context())
	go func() { ended <- serveAssistant(ctx, &ui{err: &bytes.Buffer{}}, []string{dir}, ours) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) map[string]any { return map[string]any{"url": seed.String() + path} }
	for _, c := range []struct {
		says, tool string
		args       map[string]any
		want       []string // "!x": x is not in it
		refused    bool
	}{
		{"a page", "read", at(""), []string{"URL: " + seed.String() + "\n", "Captured: 20", "Part: 1 of 1", "# Manual",
			"| Day | Hours |", "](" + seed.String() + "long)", "!navigation", "!SECRET"}, false},
		{"in parts", "read", map[string]any{"url": seed.String() + "long", "part": 2},
			[]string{"Part: 2 of 2", "## End", "!# Long"}, false},
		{"a part that there is not", "read", map[string]any{"url": seed.String() + "long", "part": 3},
			[]string{"has 2"}, true},
		{"a redirect", "read", at("moved"), []string{"URL: " + seed.String() + "long\n"}, false},
		{"the owner's words", "read", at("no/x"), []string{"ai-input=n (robots.txt, line 3, version ",
			": Content-Usage: /no/ ai-input=n)", "!SECRET"}, true},
		{"a limit of snippets", "read", at("short"), []string{"max-snippet:10", "!SECRET"}, true},
		{"an error is no page", "read", at("gone"), []string{"answered 404"}, true},
		{"what is not archived", "read", at("none"), []string{"is not archived"}, true},
		{"no URL", "read", map[string]any{"url": "http://["}, []string{"is no URL"}, true},
		{"headings", "outline", at("long"), []string{`"parts":2`, `{"level":2,"text":"End","part":2}`}, false},
		{"no heading in code", "outline", at(""), []string{`"text":"Table"`, "!code"}, false},
		{"links", "links", at(""), []string{`long","archived":true`, `gone","archived":false`}, false},
		{"no links of what is refused", "links", at("no/x"), []string{"ai-input=n"}, true},
		{"a search", "search", map[string]any{"query": "opening"}, []string{`"title":"Manual"`, `"captured":"20`,
			"ai-input=n (robots.txt", "!SECRET"}, false},
		{"why", "explain", at("no/x"), []string{"fetched", "Use: ai-input=n", "Read: refused"}, false},
		{"nothing to compare", "changes", nil, []string{"only once"}, true},
		{"changes since a time", "changes", map[string]any{"since": "2020-01-01"},
			[]string{`"change":"new"`, `"refused":1`, "!no/x"}, false},
	} {
		refused, text, err := callTool(ctx, session, c.tool, c.args)
		if err != nil {
			t.Errorf("%s: %v", c.says, err)
			continue
		}
		if refused != c.refused {
			t.Errorf("%s: refused is %v: %s", c.says, refused, text)
		}
		for _, want := range c.want {
			if not, ok := strings.CutPrefix(want, "!"); strings.Contains(text, not) == ok {
				t.Errorf("%s: want %q in %s", c.says, want, text)
			}
		}
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 6 {
		t.Errorf("%d tools, %v", len(tools.Tools), err)
	}
	for _, tool := range tools.Tools {
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is not said to read only", tool.Name)
		}
	}
	page, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: seed.String() + "long"})
	if err != nil || !strings.Contains(page.Contents[0].Text, "## End") {
		t.Errorf("a resource by its URL: %v, %v", page, err)
	}
	if _, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: seed.String() + "no/x"}); err == nil ||
		!strings.Contains(err.Error(), "line 3") {
		t.Errorf("a resource that is refused: %v", err)
	}
	session.Close()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "crawl.db")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("crawl.db was changed, %v", err)
	}
}

// When two archives have a page, each hit is allowed or refused by the permit of its own copy.
func TestAnAssistantIsRefusedWhatTheHitsArchiveRefuses(t *testing.T) {
	t.Parallel()
	s, seed := crawltest.Site(t, "-- /robots.txt --\nUser-agent: *\nAllow: /\n-- / --\n<title>Manual</title><p>Opening OPEN\n")
	open, closed := filepath.Join(t.TempDir(), "open"), filepath.Join(t.TempDir(), "closed")
	crawltest.Archive(t, open, seed)
	if err := errors.Join(s.Set("/robots.txt", "User-agent: *\nContent-Usage: ai-input=n\n"),
		s.Set("/", "<title>Manual</title><p>Opening SECRET\n")); err != nil {
		t.Fatal(err)
	}
	crawltest.Archive(t, closed, seed)
	_, text, err := callTool(t.Context(), assistantOf(t, []string{open, closed}), "search",
		map[string]any{"query": "opening"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "OPEN") || !strings.Contains(text, "ai-input=n (robots.txt, line 2") ||
		strings.Contains(text, "SECRET") {
		t.Errorf("want the one copy, and the other refused: %s", text)
	}
}
