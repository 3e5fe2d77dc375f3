package visit

import (
	"sync/atomic"

	"curtsy/internal/weburl"
)

// vias remembers the URLs of pages that led to others: what is queued side by
// side was mostly found side by side, on a page that was visited not long ago.
// It is for any goroutine.
type vias [4096]atomic.Pointer[via]

type via struct {
	id  uint64
	url string
}

// RememberVia remembers that the page at u led to others.
func (r *Reader) RememberVia(id uint64, u weburl.URL) {
	v := &r.vias
	v[id%uint64(len(v))].Store(&via{id, u.String()})
}

// via is the URL with an id, "" for that of a seed.
func (r *Reader) via(id uint64) string {
	if id == 0 {
		return ""
	}
	place := &r.vias[id%uint64(len(r.vias))]
	if v := place.Load(); v != nil && v.id == id {
		return v.url
	}
	found, _ := r.frontier.Get(id)
	r.RememberVia(id, found.URL)
	return found.URL.String()
}
