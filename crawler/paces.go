package crawler

import (
	"maps"
	"slices"
	"time"

	"curtsy/internal/weburl"
	"curtsy/politeness"
)

// pace is when a host is asked. Its origins, by http and by https, have a
// robots.txt each: all of them are kept.
type pace struct {
	*politeness.Host
	asked map[string]politeness.Rules // by origin
}

func newPace(o politeness.Options) *pace {
	return &pace{politeness.NewHost(o), map[string]politeness.Rules{}}
}

// obey takes what the robots.txt of one origin says now.
func (p *pace) obey(origin string, r politeness.Rules) {
	p.asked[origin] = r
	var all politeness.Rules
	for _, origin := range slices.Sorted(maps.Keys(p.asked)) {
		all = all.And(p.asked[origin])
	}
	p.SetRules(all)
}

// pace finds or makes the pace of u's host. An origin there that nothing is
// queued for any more has its say as before the crawl was stopped.
func (c *Crawl) pace(u weburl.URL) (*pace, error) {
	if p := c.paces[u.Host()]; p != nil {
		return p, nil
	}
	p := newPace(c.opts.Pace)
	for _, scheme := range []string{"http://", "https://"} {
		r, _, err := lastRules(c.archive, scheme+u.Host(), c.opts.Rules)
		if err != nil {
			return nil, err
		}
		if r != nil {
			p.obey(scheme+u.Host(), paceRules(r))
		}
	}
	c.restore(u.Host(), p)
	c.paces[u.Host()] = p
	return p, nil
}

// restore goes on with the pace of a host where the last run left it. After
// a kill nobody knows when the last request ended: perhaps right now.
func (c *Crawl) restore(name string, p *pace) {
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
func (c *Crawl) remember(name string, p *pace) {
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
