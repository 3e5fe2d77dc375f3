package crawler

import (
	"slices"
	"time"

	"curtsy/crawler/robotstxt"
	"curtsy/internal/weburl"
	"curtsy/politeness"
)

// pace decides when a host may be asked.
type pace struct {
	*politeness.Host
	host    string
	origins []*origin // origins to look at again when a request here has ended
}

func newPace(host string, o politeness.Options) *pace {
	return &pace{Host: politeness.NewHost(o), host: host}
}

// waits adds an origin to be looked at again when a request here has ended.
func (p *pace) waits(o *origin) {
	if !slices.Contains(p.origins, o) {
		p.origins = append(p.origins, o)
	}
}

// pace returns the pace of u's host, creating it if necessary. It obeys the robots.txt of both
// origins there as last archived, even if nothing is queued for one of them.
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

// restore continues the pace of a host from the last run. After a kill it is unknown when the last
// request ended; it is assumed to be now.
func (c *Crawl) restore(p *pace) {
	s, ok := c.ledger.get().Paces[p.host]
	if c.ledger.killed {
		s.LastEnd, ok = c.now(), true
	}
	if ok {
		p.Restore(s, c.now())
	}
}

// margin is added to the end of a download before the pause begins. The server finishes a request only
// when its last write has returned, which may be after the client has read the data, and the pause
// must be kept on the server's clock.
func (p *pace) margin() time.Duration {
	d, _ := p.Delay()
	return min(d/200, time.Millisecond)
}
