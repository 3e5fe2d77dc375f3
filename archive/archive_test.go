package archive_test

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/archive"
	"curtsy/crawler"
	"curtsy/crawler/render"
	"curtsy/internal/testkit/crawltest"
)

// scripted is a fake browser whose rendered pages contain content that no server has sent.
type scripted struct{}

func (scripted) Close() {}

func (scripted) Render(_ context.Context, url string, _ render.Fetch) (*render.Page, error) {
	return &render.Page{URL: url, HTML: []byte(`<!doctype html><title>made</title><p>made by a script <a href="/cheese">cheese</a>`), Asked: 1}, nil
}

// Body and Links come from the same document: the rendered one, where there is one.
func TestARenderedPage(t *testing.T) {
	site, seed := crawltest.Site(t, "-- / --\n<!doctype html><title>shell</title><div id=root></div><script></script>\n-- /cheese.txt --\nGouda\n")
	dir := filepath.Join(t.TempDir(), "site")
	crawltest.Archive(t, dir, seed, func(o *crawler.Options) { o.Render, o.Browser = crawler.RenderAll, scripted{} })
	a, err := archive.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for c, err := range a.Captures() {
		if err != nil {
			t.Fatal(err)
		}
		if c.URL != seed.String() {
			continue
		}
		body, header, err := c.Body()
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close()
		text, err := io.ReadAll(body)
		if err != nil || !strings.Contains(string(text), "made by a script") ||
			!strings.HasPrefix(header.Get("Content-Type"), "text/html") {
			t.Errorf("%v: %v %s", err, header, text)
		}
		if links, err := c.Links(); err != nil || !slices.Equal(links, []string{site.Origin + "/cheese"}) {
			t.Errorf("links %q %v", links, err)
		}
		var records strings.Builder
		if n, err := c.WriteTo(&records); err != nil || n == 0 {
			t.Errorf("%d octets of records, %v", n, err)
		}
		return
	}
	t.Error("no capture of the seed")
}
