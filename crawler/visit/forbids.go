package visit

import (
	"bytes"
	"slices"

	"curtsy/crawler/fetch"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// Forbids is what a response says of crawlers where it forbids keeping it; nil where it
// does not. It is for responses that somebody else kept, of which there may be many: a
// document is read only where it may say so.
func (r *Reader) Forbids(u weburl.URL, x *fetch.Exchange) *crawllog.Directives {
	p := htmlmeta.Page{URL: u, Header: x.Header}
	if Readable(x.Header.Get("Content-Type")) {
		p.Body, _, _ = x.Decoded(r.opts.MaxParse)
	}
	if !mentions(p.Body) {
		p.Body = nil
	}
	if p.Body == nil && x.Header.Get("X-Robots-Tag") == "" && x.Header.Get("Robots-Tag") == "" {
		return nil
	}
	if said := htmlmeta.Read(p, r.reading()); said.Directives.NoArchive {
		return directivesOf(&said.Directives)
	}
	return nil
}

// mentions says whether a document has a word that would forbid it, in the cases in which
// people write it. In another case it is found when the page is read, and keeps it from
// being shown.
func mentions(body []byte) bool {
	return slices.ContainsFunc([]string{"oarchive", "oArchive", "OARCHIVE", "ocache", "oCache", "OCACHE"},
		func(word string) bool { return bytes.Contains(body, []byte(word)) })
}
