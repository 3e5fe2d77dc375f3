package search

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"curtsy/htmlmeta"
	"curtsy/internal/http1"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

const (
	maxText = 1 << 20  // octets of a page that are indexed
	maxPDF  = 32 << 20 // octets of a PDF document; larger ones are not read
)

// text is the indexed content of a page.
type text struct {
	title  string
	lang   string // declared
	blocks []htmlmeta.Block
	links  []htmlmeta.Link
	unread error // why text of a PDF document is missing
}

// Verdict says whether search can find a URL, and why not.
type Verdict struct {
	Searchable bool
	Why        string // the rule that excludes it; "" if none does
	Snippet    int    // characters of its text that may be shown; publish.NoLimit; or 0 for none
}

// Judge says whether search can find a URL, and by which of its visits (oldest first). Indexing
// and search use the same verdict. find looks up redirect targets.
func Judge(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) (*crawllog.Visit, Verdict) {
	v, permit := publish.CurrentPermit(visits, now, find)
	switch {
	case v == nil:
		return nil, Verdict{Why: "never fetched"}
	case v.Status != http.StatusOK && v.Status != http.StatusNonAuthoritativeInfo:
		return v, Verdict{Why: fmt.Sprintf("answered with status %d; only complete responses (200) are searched",
			v.Status)}
	case v.Class == "prerequisite" || v.Class == "sitemap":
		return v, Verdict{Why: "robots.txt and sitemaps are not searched"}
	case !permit.List, !permit.Show:
		return v, Verdict{Why: permit.Why()}
	case v.Elsewhere() != nil:
		return v, Verdict{Why: v.Elsewhere().String()}
	case !v.HasBody():
		return v, Verdict{Why: "no body is kept"}
	case !isText(v):
		return v, Verdict{Why: cmp.Or(http1.MediaType(v.ContentType), "a document without a type") +
			" is not searched, but pages, plain text and PDF are"}
	}
	return v, Verdict{Searchable: true, Snippet: permit.Snippet}
}

// isText reports whether a visit has a type that is indexed. Only HTML has a title, whatever
// its declared type. Images are not indexed, so noimageindex needs no handling.
func isText(v *crawllog.Visit) bool {
	switch mime := http1.MediaType(v.ContentType); mime {
	case "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/pdf":
		return true
	case "image/svg+xml":
		return false
	}
	return v.Title != ""
}

// readText reads a page from the archive, with its links if requested. Content that cannot be
// read is left empty; only damage of the archive is an error.
func readText(ctx context.Context, a *storage.Archive, v *crawllog.Visit, pdf PDF, links bool) (t text, err error) {
	t = text{title: v.Title, lang: v.Lang}
	if http1.MediaType(v.ContentType) == "application/pdf" {
		return t, t.readPDF(ctx, a, v, pdf)
	}
	if t.blocks, err = publish.Text(a, v, maxText); publish.IsOfArchive(err) || !links {
		return t, publish.OfArchive(err)
	}
	t.links, err = publish.Links(a, v)
	return t, err
}

// readPDF reads the text of a PDF document.
func (t *text) readPDF(ctx context.Context, a *storage.Archive, v *crawllog.Visit, read PDF) error {
	if read == nil {
		return nil
	}
	body, err := publish.OpenPage(a, v)
	if err != nil {
		return publish.OfArchive(err)
	}
	defer body.Close()
	b, err := io.ReadAll(io.LimitReader(body, maxPDF+1))
	if err := publish.OfArchive(err); err != nil {
		return err
	}
	if len(b) > maxPDF {
		t.unread = fmt.Errorf("larger than %d MiB", maxPDF>>20)
		return nil
	}
	t.blocks, t.unread = read(ctx, b)
	return ctx.Err()
}

// PDF extracts the text of a PDF document as far as possible; the error says why text is
// missing. It limits its time and memory itself.
type PDF func(ctx context.Context, body []byte) ([]htmlmeta.Block, error)

// unescaped decodes a URL for display.
func unescaped(u string) string {
	if s, err := url.PathUnescape(u); err == nil {
		return s
	}
	return u
}

// lastSegment returns the part of a URL's path that names the page.
func lastSegment(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	rest, _, _ = strings.Cut(rest, "?")
	_, rest, _ = strings.Cut(rest, "/")
	dir, last := path.Split(strings.TrimSuffix(rest, "/"))
	last = strings.TrimSuffix(last, path.Ext(last))
	if last == "index" && dir != "" {
		last = path.Base(dir)
	}
	return last
}
