package visit

import (
	"sync/atomic"

	"curtsy/frontier"
	"curtsy/frontier/judge"
)

// vias remembers the URLs of pages that led to others: what is queued side by
// side was mostly found side by side, on a page that was visited not long ago.
// It is for any goroutine.
type vias [4096]atomic.Pointer[via]

type via struct {
	id   uint64
	url  string
	hops string // that led to it
}

// maxHops bounds how many pages are looked up for a path of hops.
const maxHops = 1000

// RememberVia remembers that a page led to others.
func (r *Reader) RememberVia(o *Outcome) {
	r.vias.at(o.Entry.ID).Store(&via{o.Entry.ID, o.Entry.URL.String(), o.hops})
}

func (v *vias) at(id uint64) *atomic.Pointer[via] { return &v[id%uint64(len(v))] }

// via is the URL with an id, and how it was reached; of none for that of a seed.
func (r *Reader) via(id uint64, most int) *via {
	if id == 0 || most == 0 {
		return &via{}
	}
	if v := r.vias.at(id).Load(); v != nil && v.id == id {
		return v
	}
	found, _ := r.frontier.Get(id)
	v := &via{id, found.URL.String(), ""}
	if found.Via != id {
		v.hops = hopsOf(&found.Entry, r.via(found.Via, most-1))
	}
	r.vias.at(id).Store(v)
	return v
}

// hopsOf is the path of hops to a URL from what led to it.
func hopsOf(e *frontier.Entry, from *via) string {
	hop := judge.Hop(e.How, e.Class == frontier.Requisite || e.Needed, e.Via != 0)
	if hop == 0 {
		return "" // a path begins here
	}
	return judge.ExtendHops(from.hops, hop)
}
