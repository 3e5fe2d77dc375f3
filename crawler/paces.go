package crawler

import (
	"maps"
	"time"

	"curtsy/politeness"
)

// restore goes on with the pace of a host where the last run left it. After
// a kill nobody knows when the last request ended: perhaps right now.
func (c *Crawl) restore(name string, p *politeness.Host) {
	s, ok := c.state.Paces[name]
	if c.killed {
		s.LastEnd, ok = time.Now(), true
	}
	if ok {
		p.Restore(s, time.Now())
	}
}

// remember keeps what a kill must not make us forget: failures, and the time
// before which a host asked us not to come back. Maps of paces are never
// changed once they are in the state, since the committer reads them.
func (c *Crawl) remember(name string, p *politeness.Host) {
	s := p.Snapshot()
	c.mu.Lock()
	defer c.mu.Unlock()
	had := c.state.Paces[name]
	if s.Failures == had.Failures && s.Until.Equal(had.Until) {
		return
	}
	c.putPace(name, s)
}

func (c *Crawl) putPace(name string, s politeness.Snapshot) {
	paces := maps.Clone(c.state.Paces)
	if paces == nil {
		paces = map[string]politeness.Snapshot{}
	}
	paces[name] = s
	c.state.Paces = paces
}
