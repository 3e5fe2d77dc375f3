package crawler

import "sync/atomic"

// vias remembers the URLs of pages that led to others: what is queued side by
// side was mostly found side by side. It is for any goroutine.
type vias [256]atomic.Pointer[via]

type via struct {
	id  uint64
	url string
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
	place.Store(&via{id, found.URL.String()})
	return found.URL.String()
}
