package crawler

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

// led remembers that the page at u led to others.
func (v *vias) led(id uint64, u weburl.URL) {
	v[id%uint64(len(v))].Store(&via{id, u.String()})
}

// via is the URL with an id, "" for that of a seed.
func (c *Crawl) via(id uint64) string {
	if id == 0 {
		return ""
	}
	place := &c.vias[id%uint64(len(c.vias))]
	if v := place.Load(); v != nil && v.id == id {
		return v.url
	}
	found, _ := c.frontier.Get(id)
	c.vias.led(id, found.URL)
	return found.URL.String()
}
