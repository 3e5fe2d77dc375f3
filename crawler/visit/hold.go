package visit

import (
	"curtsy/crawler/fetch"
	"curtsy/htmlmeta"
	"curtsy/sitemap"
)

// Hold says how the body of an answer is held while it comes: in no file
// before it is known that it may be kept. The head tells that of all that is
// read for nothing else; a document is held in memory as far as it is read, and
// what it says there decides. Of what may not be kept no more is read than
// is of use: links, or the entries of a sitemap.
func (r *Reader) Hold(a *Attempt) func(*fetch.Exchange) fetch.Holding {
	return func(x *fetch.Exchange) (how fetch.Holding) {
		how = fetch.NotNeeded // of an attempt that breaks
		defer r.caught(a)
		most := r.mostRead(a, x)
		if htmlmeta.ReadDirectives(x.Header, r.reading()).NoArchive {
			if x.Held() < most {
				return fetch.InMemory
			}
			return fetch.NotNeeded
		}
		switch {
		case x.Held() == 0:
			return fetch.InMemory
		case most == 0 || a.isListing() && !isPage(x):
			return fetch.InFile
		case x.Held() < r.opts.MaxParse:
			return fetch.InMemory
		}
		return r.asDocumentSays(a, x)
	}
}

// mostRead is how many octets of a body are read for what they say.
func (r *Reader) mostRead(a *Attempt, x *fetch.Exchange) int64 {
	switch {
	case a.isListing():
		return sitemap.MaxBytes
	case Readable(x.Header.Get("Content-Type")):
		return r.opts.MaxParse
	}
	return 0
}

// asDocumentSays reads the directives of a document that is there as far as it
// is read. No later reading sees more of it.
func (r *Reader) asDocumentSays(a *Attempt, x *fetch.Exchange) fetch.Holding {
	r.heavy.Lock()
	defer r.heavy.Unlock()
	body, _, _ := x.Decoded(r.opts.MaxParse)
	x.Limit(int64(len(body)))
	if doc := htmlmeta.Read(htmlmeta.Page{URL: a.URL, Header: x.Header, Body: body},
		r.reading()); doc.Directives.NoArchive {
		return fetch.NotNeeded
	}
	return fetch.InFile
}
