package crawler

import (
	"time"

	"curtsy/politeness"
)

// Steering is what somebody who watches a crawl wants of it from now on.
type Steering struct {
	Pause bool          // start nothing; what is in flight is finished
	Delay time.Duration // in place of Options.Pace.Delay; what the site asks for holds all the same
}

// steer takes in what is wanted.
func (c *Crawl) steer(s Steering) {
	c.run.paused = s.Pause
	if s.Delay == c.opts.Pace.Delay {
		return
	}
	c.opts.Pace.Delay, c.run.rate = s.Delay, meter{} // what was so far says nothing of what comes
	for _, p := range c.schedule.paces {
		p.SetDelay(s.Delay)
		for _, o := range p.origins {
			c.schedule.enqueue(o)
		}
	}
	c.schedule.others.pace.Share(politeness.NewShared(s.Delay))
	if o := c.schedule.origins[c.opts.Seed.Origin()]; o != nil {
		c.schedule.enqueue(o)
	}
}

// pausedWait is what is waited for while a crawl is paused.
var pausedWait = waiting{politeness.Never, "paused"}
