package visit

import (
	"sync/atomic"

	"curtsy/frontier"
	"curtsy/frontier/judge"
)

// vias caches the URLs of referring pages: URLs queued near each other were mostly found on one page
// that was visited recently. It is safe for concurrent use.
type vias [4096]atomic.Pointer[via]

type via struct {
	id   uint64
	url  string
	hops string // the hop path to it
}

// maxHops bounds how many pages are looked up for a hop path.
const maxHops = 1000

// RememberVia caches the page of an outcome as a referring page.
func (r *Reader) RememberVia(o *Outcome) {
	r.vias.at(o.Entry.ID).Store(&via{o.Entry.ID, o.Entry.URL.String(), o.hops})
}

func (v *vias) at(id uint64) *atomic.Pointer[via] { return &v[id%uint64(len(v))] }

// via returns the URL with an id and its hop path; an empty via for id 0, of which seeds are found.
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

// hopsOf returns the hop path of a URL; from is the page that led to it.
func hopsOf(e *frontier.Entry, from *via) string {
	hop := judge.Hop(e.How, e.Class == frontier.Requisite || e.Needed, e.Via != 0)
	if hop == 0 {
		return "" // a path begins here
	}
	return judge.ExtendHops(from.hops, hop)
}
