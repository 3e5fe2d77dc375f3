package crawler

import (
	"time"

	"curtsy/politeness"
)

// Steering is a command to a running crawl.
type Steering struct {
	Pause bool          // start nothing more; visits in flight are finished
	Delay time.Duration // replaces Options.Pace.Delay; what the site asks for still applies
}

// steer applies a command.
func (c *Crawl) steer(s Steering) {
	c.run.paused = s.Pause
	if s.Delay == c.opts.Pace.Delay {
		return
	}
	c.opts.Pace.Delay, c.run.rate = s.Delay, meter{} // the past rate does not apply any more
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

// pausedWait is the wait of a paused crawl.
var pausedWait = waiting{politeness.Never, "paused"}
