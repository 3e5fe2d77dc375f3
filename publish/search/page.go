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
	maxText = 1 << 20  // of a page is indexed, in octets
	maxPDF  = 32 << 20 // of a PDF document is read; of a larger one nothing
)

// text is what a page says.
type text struct {
	title  string
	lang   string // declared
	blocks []htmlmeta.Block
	links  []htmlmeta.Link
	unread error // why the text of a PDF document, or the rest of it, is missing
}

// Verdict says whether a URL can be found by a search, and why not.
type Verdict struct {
	Searchable bool
	Why        string // the rule that keeps it out; "" if none does
	Snippet    int    // characters of its text that may be shown, publish.NoLimit or 0 for none
}

// Judge says whether a URL can be found, by which of its visits (the oldest
// first), and how. It is the same verdict by which pages are indexed and hits are
// shown. find looks up where redirects lead.
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

// isText says whether a visit is of a kind that is searched. A title is found in
// what is HTML by its content, whatever its type. Pictures are none, so that
// noimageindex asks for what is so anyway.
func isText(v *crawllog.Visit) bool {
	switch mime := http1.MediaType(v.ContentType); mime {
	case "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/pdf":
		return true
	case "image/svg+xml":
		return false
	}
	return v.Title != ""
}

// readText reads a page from the archive, with its links if they are asked for.
// What cannot be read is empty; only damage of the archive is an error.
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

// PDF reads the text of a PDF document, as far as it can; an error says why not
// further. It bounds time and memory itself.
type PDF func(ctx context.Context, body []byte) ([]htmlmeta.Block, error)

// unescaped is a URL as people read it.
func unescaped(u string) string {
	if s, err := url.PathUnescape(u); err == nil {
		return s
	}
	return u
}

// lastSegment is the part of a URL's path that names the page.
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
