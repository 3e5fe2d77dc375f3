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

// Rendered is what a browser made of the page of an attempt.
type Rendered struct {
	crawllog.Rendered
	HTML  []byte
	Moved []string // where scripts wanted to go
	// Routes are links to what scripts show for a fragment.
	Routes []string
}

// Shell is a page as it came, for a browser that is to run its scripts.
type Shell struct {
	Status int
	Header http.Header
	Body   []byte // without codings
	Bare   bool   // it shows next to nothing without its scripts

	r     *Reader
	a     *Attempt
	facts judge.Facts
}

// Shell reads an answer as a page to be rendered; nil where it is none, or is not
// whole, or too large.
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

// Ask makes a link of what the page's scripts ask for, with the verdict on it: a
// requisite of the page, as if the page named it.
func (s *Shell) Ask(u weburl.URL) *Outcome {
	f := s.facts
	l := frontier.Link{URL: u, Class: frontier.Requisite, Via: s.a.Entry.ID, Needed: true, Depth: s.a.Entry.Depth + 1,
		How: judge.HowRendering}
	return &Outcome{Entry: s.a.Entry, Refetch: true, Links: s.r.judgeNew(nil, s.a, l, &f)}
}

// join adds what the rendered document says, which it gives, to what the page says.
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

// What a page shows that shows next to nothing.
const (
	bareText  = 300 // octets, its advice to switch scripts on included
	bareLinks = 3   // to other pages
)

// isBare says whether a page shows next to nothing without its scripts.
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

// noteRendered notes that a page shows next to nothing without its scripts, and
// what they made of it.
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

// appendRendered makes the conversion record of what a browser made of the page
// (ISO 28500 §6.8).
func (r *Records) appendRendered(s *scratch, dst []byte, infoID, responseID string) []byte {
	h := r.header(warc.TypeConversion, warc.NewID(), infoID)
	h.ContentType, h.RefersTo = crawllog.TypeRendered, responseID
	h.BlockDigest = r.sum(r.rendered.HTML)
	h.PayloadDigest = h.BlockDigest
	return s.encoder.Append(dst, &h, r.small(), r.rendered.HTML)
}
