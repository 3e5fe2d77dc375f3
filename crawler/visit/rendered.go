package visit

import (
	"bytes"
	"net/http"
	"strings"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Rendered is a page after a browser has run its scripts.
type Rendered struct {
	crawllog.Rendered
	HTML  []byte
	Moved []string // targets of navigation by scripts
	// Routes are links to fragments that scripts display.
	Routes []string
}

// Shell is a page as received, for a browser that runs its scripts.
type Shell struct {
	Status int
	Header http.Header
	Body   []byte // decoded
	Bare   bool   // it shows next to nothing without its scripts

	r     *Reader
	a     *Attempt
	facts judge.Facts
}

// Shell reads a response as a page to be rendered; nil if it is not a complete HTML page or is too large.
func (r *Reader) Shell(a *Attempt, x *fetch.Exchange) *Shell {
	defer r.caught(a)
	if x.Err != nil || x.Status != http.StatusOK || a.Entry.Class != frontier.Page || x.Truncated != "" ||
		x.Held() > heavyBody {
		return nil
	}
	body, cut, err := x.Decoded(heavyBody)
	if err != nil || cut || htmlmeta.KindOf(x.Header, body[:min(len(body), 1<<10)]) != htmlmeta.HTML {
		return nil
	}
	a.Read = r.read(a, x)
	return &Shell{Status: x.Status, Header: x.Header, Body: bytes.Clone(body), Bare: isBare(a.Read.doc, body), r: r,
		a: a, facts: *r.facts(a, &Outcome{}, a.Read.doc)}
}

// Ask returns an outcome with a link to a URL that the page's scripts request, judged as a requisite of
// the page.
func (s *Shell) Ask(u weburl.URL) *Outcome {
	f := s.facts
	l := frontier.Link{URL: u, Class: frontier.Requisite, Via: s.a.Entry.ID, Needed: true, Depth: s.a.Entry.Depth + 1,
		How: judge.HowRendering}
	return &Outcome{Entry: s.a.Entry, Refetch: true, Links: s.r.judgeNew(nil, s.a, l, &f)}
}

// join adds the rendered document to doc, and returns the rendered document; nil if there is none.
func (r *Reader) join(a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) *htmlmeta.Document {
	if a.Rendered == nil {
		return nil
	}
	h := http.Header{"Content-Type": {crawllog.TypeRendered}, htmlmeta.FromHeader: x.Header[htmlmeta.FromHeader]}
	made := htmlmeta.Read(htmlmeta.Page{URL: a.URL, Header: h, Body: a.Rendered.HTML}, r.reading())
	doc.Directives.Join(&made.Directives)
	doc.Links = append(doc.Links, made.Links...)
	for _, l := range [...]struct {
		list      []string
		tag, attr string
	}{{a.Rendered.Moved, "script", "location"}, {a.Rendered.Routes, "a", "href"}} {
		for _, s := range l.list {
			if u, err := weburl.ParsePage(s); err == nil {
				doc.Links = append(doc.Links, htmlmeta.Link{URL: u, Tag: l.tag, Attr: l.attr})
			}
		}
	}
	if made.Title != "" {
		doc.Title = made.Title
	}
	if made.Lang != "" {
		doc.Lang = made.Lang
	}
	if doc.Canonical.IsZero() {
		doc.Canonical = made.Canonical
	}
	return &made
}

// Limits for a page that shows next to nothing.
const (
	bareText  = 300 // octets of text, including advice to enable scripts
	bareLinks = 3   // links to other pages
)

// isBare reports whether a page shows next to nothing without its scripts.
func isBare(doc *htmlmeta.Document, body []byte) bool {
	links := 0
	for i := range doc.Links {
		l := &doc.Links[i]
		if class, ok := classOf(l); ok && class == frontier.Page && l.Kind != htmlmeta.Alternate && !l.IsCanonical() {
			if links++; links > bareLinks {
				return false
			}
		}
	}
	lower := strings.ToLower(string(body[:min(len(body), 256<<10)]))
	if !strings.Contains(lower, "<script") || strings.Contains(lower, "<frame") {
		return false
	}
	return shownText(body)-len(doc.Title) < bareText
}

// noteRendered records the rendered page, or that the page shows next to nothing without its scripts.
func (o *Outcome) noteRendered(r *Reader, a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) {
	if x.Status != http.StatusOK || a.Entry.Class != frontier.Page || doc.Kind != htmlmeta.HTML || a.HeadOnly {
		return
	}
	if o.rendered = a.Rendered; o.rendered != nil {
		o.Visit.Rendered, o.Visit.Bare = &o.rendered.Rendered, true
		return
	}
	if x.Held() <= heavyBody {
		body, _, _ := x.Decoded(r.opts.MaxParse)
		o.Visit.Bare = isBare(doc, body)
	}
}

// appendRendered appends the conversion record with the rendered page (ISO 28500 §6.8).
func (r *Records) appendRendered(s *scratch, dst []byte, infoID, responseID string) []byte {
	h := r.header(warc.TypeConversion, warc.NewID(), infoID)
	h.ContentType, h.RefersTo = crawllog.TypeRendered, responseID
	h.BlockDigest = r.sum(r.rendered.HTML)
	h.PayloadDigest = h.BlockDigest
	return s.encoder.Append(dst, &h, r.small(), r.rendered.HTML)
}
