package visit

import (
	"curtsy/crawler/fetch"
	"curtsy/htmlmeta"
	"curtsy/sitemap"
)

// Hold returns the function that decides how a body is held (fetch.Request.Hold). Nothing is written
// to a file before it is known that it may be kept. For types that are not parsed the head decides;
// a document is held in memory as far as it is parsed, and then its directives decide. A body that
// may not be kept is read only as far as it is parsed for links or sitemap entries.
func (r *Reader) Hold(a *Attempt) func(*fetch.Exchange) fetch.Holding {
	return func(x *fetch.Exchange) (how fetch.Holding) {
		how = fetch.NotNeeded // if the attempt panics
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

// mostRead returns how many octets of a body are parsed.
func (r *Reader) mostRead(a *Attempt, x *fetch.Exchange) int64 {
	switch {
	case a.isListing():
		return sitemap.MaxBytes
	case Readable(x.Header.Get("Content-Type")):
		return r.opts.MaxParse
	}
	return 0
}

// asDocumentSays decides by the directives in the part of a document that is in memory. It limits later
// decoding to the same part.
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
