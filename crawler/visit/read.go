package visit

import (
	"strings"

	"curtsy/crawler/fetch"
	"curtsy/facts"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// Reading is what the document of an answer says.
type Reading struct {
	doc    *htmlmeta.Document
	length int  // of the decoded body
	whole  bool // all of the body was read, as whoever reads the kept one does
}

// Ahead reads the answer to a page before Outcome's turn, which takes it from
// Attempt.Read. It is nil where that is to be left to Outcome.
func (r *Reader) Ahead(a *Attempt, x *fetch.Exchange) (read *Reading) {
	defer func() {
		if a.broken != nil {
			read = nil
		}
	}()
	defer r.caught(a)
	if body, _, _ := x.Decoded(r.most(a)); len(body) > heavyBody {
		return nil
	}
	return r.read(a, x)
}

// read is what the document says; for a response without one, its header.
func (r *Reader) read(a *Attempt, x *fetch.Exchange) *Reading {
	if x.Err != nil {
		return &Reading{doc: &htmlmeta.Document{}}
	}
	p, whole := htmlmeta.Page{URL: a.URL, Header: x.Header}, false
	listing := a.isListing()
	if Readable(x.Header.Get("Content-Type")) && (!listing || isPage(x)) {
		body, cut, err := x.Decoded(r.most(a))
		switch {
		case err != nil:
			r.opts.Logger.Debug("the body cannot be fully decoded; it is kept as received", "url",
				a.URL.String(), "err", err)
		case cut && x.Truncated == "" && !a.HeadOnly:
			r.opts.Logger.Debug("kept in full; only its beginning is parsed for links", "url", a.URL.String(),
				"octets", len(body))
		}
		p.Body, whole = body, err == nil && !cut && len(body) <= facts.MaxBody && !listing
		if len(body) > heavyBody {
			r.occupy(a)
		}
	}
	o := r.reading()
	if strings.Contains(x.Header.Get("Content-Type"), "script") {
		o.LoadedBy = weburl.FromCanonical(r.via(a.Entry.Via, maxHops).url)
	}
	if a.HeadOnly {
		p.Body, whole = headOf(htmlmeta.KindOf(x.Header, p.Body), p.Body), false
	}
	said := htmlmeta.Read(p, o)
	if a.HeadOnly {
		said.Links = nil
	}
	if listing {
		said = htmlmeta.Document{Directives: said.Directives}
	}
	return &Reading{&said, len(p.Body), whole}
}

// most is how much of a document is decoded.
func (r *Reader) most(a *Attempt) int64 {
	if a.HeadOnly {
		return min(r.opts.MaxParse, MaxHead)
	}
	return r.opts.MaxParse
}

// isPage says whether a page stands where a robots.txt or a sitemap should:
// what it asks of crawlers holds there, too.
func isPage(x *fetch.Exchange) bool {
	body, _, _ := x.Decoded(1 << 10)
	return htmlmeta.KindOf(x.Header, body) == htmlmeta.HTML
}

// heavyBody is the decoded body from which on only one is read at a time: what
// is made of it, links above all, may be ten times as large.
const heavyBody = 2 << 20

// Readable says whether a body of this type may hold links: all text and
// what is not declared. What is plainly picture, sound or archive is not read.
func Readable(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), "/")
	switch strings.TrimSpace(kind) {
	case "image":
		return strings.Contains(strings.ToLower(contentType), "svg")
	case "audio", "video", "font":
		return false
	}
	return true
}
