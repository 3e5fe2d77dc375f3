package crawler

import (
	"slices"
	"time"

	"curtsy/crawler/robotstxt"
	"curtsy/internal/weburl"
	"curtsy/politeness"
)

// pace is when a host is asked.
type pace struct {
	*politeness.Host
	host    string
	origins []*origin // that wait for it
}

func newPace(host string, o politeness.Options) *pace {
	return &pace{Host: politeness.NewHost(o), host: host}
}

// waits notes that an origin is to be looked at when a request here has ended.
func (p *pace) waits(o *origin) {
	if !slices.Contains(p.origins, o) {
		p.origins = append(p.origins, o)
	}
}

// pace finds or makes the pace of u's host. What the robots.txt of an origin
// there asked for before the crawl was stopped counts, also where nothing is
// queued for that origin any more.
func (c *Crawl) pace(u weburl.URL) (*pace, error) {
	paces := c.schedule.paces
	if p := paces[u.Host()]; p != nil {
		return p, nil
	}
	p := newPace(u.Host(), c.opts.Pace)
	for _, scheme := range []string{"http://", "https://"} {
		r, _, err := robotstxt.InForce(c.archive, scheme+u.Host(), c.opts.Rules)
		if err != nil {
			return nil, err
		}
		if r != nil {
			p.Obey(scheme+u.Host(), r.Pace())
		}
	}
	c.restore(p)
	paces[u.Host()] = p
	return p, nil
}

// restore continues the pace of a host where the last run left it. After a
// kill nobody knows when the last request ended: perhaps right now.
func (c *Crawl) restore(p *pace) {
	s, ok := c.ledger.get().Paces[p.host]
	if c.ledger.killed {
		s.LastEnd, ok = c.now(), true
	}
	if ok {
		p.Restore(s, c.now())
	}
}

// margin is added to the end of a download before the pause begins. A server
// is done with a request only when its last write has returned, which may be
// after the client has read what it wrote, and it is the server's clock that
// counts.
func (p *pace) margin() time.Duration {
	d, _ := p.Delay()
	return min(d/200, time.Millisecond)
}
