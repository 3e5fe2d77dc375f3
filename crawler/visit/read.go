package visit

import (
	"strings"

	"curtsy/crawler/fetch"
	"curtsy/facts"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// Reading is the parsed document of a response.
type Reading struct {
	doc    *htmlmeta.Document
	length int  // of the decoded body, in octets
	whole  bool // all of the body was read
}

// Ahead reads a page before Outcome is called, which takes the result from Attempt.Read. It returns nil if
// Outcome must read the page itself.
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

// read parses the document; without one, only the header's directives.
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

// most returns how many octets of a document are decoded.
func (r *Reader) most(a *Attempt) int64 {
	if a.HeadOnly {
		return min(r.opts.MaxParse, MaxHead)
	}
	return r.opts.MaxParse
}

// isPage reports whether an HTML page was returned for a robots.txt or sitemap; its directives then apply.
func isPage(x *fetch.Exchange) bool {
	body, _, _ := x.Decoded(1 << 10)
	return htmlmeta.KindOf(x.Header, body) == htmlmeta.HTML
}

// heavyBody is the decoded size from which on only one document is processed at a time: its links, above
// all, may take ten times as much memory.
const heavyBody = 2 << 20

// Readable reports whether a body of this type is parsed for links: everything except images (other than
// SVG), audio, video and fonts.
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
