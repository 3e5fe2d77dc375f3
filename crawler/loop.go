package crawler

import (
	"context"
	"fmt"
	"math"
	"time"

	"curtsy/politeness"
)

// run is what the loop knows of the run that is going on.
type run struct {
	ending    *Result
	paused    bool
	cancel    context.CancelFunc // of the visits in flight
	tail      time.Time          // when they are cancelled; zero: never
	leave     context.CancelFunc // of the pages being rendered
	wait      waiting            // what the schedule waits for
	rate      meter
	trend     trend
	published time.Time // status.json
}

// maxTail is how long visits in flight may go on when max-time is over.
const maxTail = 10 * time.Second

// end decides how the run ends, unless that is decided.
func (r *run) end(e Ending, why string) { r.endWith(Result{Ending: e, Why: why}) }

func (r *run) endWith(result Result) {
	if r.ending != nil {
		return
	}
	r.ending = &result
	if r.leave != nil {
		r.leave() // nothing is fetched for them any more
	}
}

// loop hands out URLs (steps 1 and 2) until the crawl ends. It alone touches
// the schedule. It fits on a screen: take what came back, start what may
// start, else wait for whichever comes first.
func (c *Crawl) loop(ctx, stop context.Context) Result {
	visiting, cancel := context.WithCancel(ctx)
	defer cancel()
	c.run.cancel = cancel
	c.tabs.ctx, c.run.leave = context.WithCancel(visiting)
	defer c.run.leave()
	tick, timer := time.NewTicker(time.Second), time.NewTimer(0)
	defer tick.Stop()
	defer timer.Stop()
	c.queueAll()
	c.report("running")
	for {
		c.catchUp()
		now := c.now()
		c.limits(stop, now)
		if c.run.ending == nil && !c.run.paused && c.start(visiting, now) {
			continue
		}
		if c.over() {
			return *c.run.ending
		}
		stopping := stop.Done()
		if c.run.ending != nil {
			stopping = nil
		}
		c.set(timer, now)
		select {
		case d := <-c.crew.fetched:
			c.ended(d)
		case <-c.flight.kick:
		case s := <-c.opts.Steer:
			c.steer(s)
		case <-timer.C:
		case <-tick.C:
			c.report("running")
		case <-stopping:
		case <-ctx.Done():
			c.run.end(Stopped, "stopped at once")
			return *c.run.ending
		}
	}
}

// set makes the timer fire when something may start, a limit is reached or
// the visits in flight have had their time.
func (c *Crawl) set(timer *time.Timer, now time.Time) {
	at := politeness.Never
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	c.run.wait = waiting{}
	w, more := c.schedule.earliest(now)
	mayStart := c.flight.mayStart(c.bytesLeft())
	c.flight.starve(!more || c.run.ending != nil || c.run.paused || !mayStart)
	if c.run.paused {
		c.run.wait = pausedWait
	} else if c.run.ending == nil && mayStart && more {
		c.run.wait = w
		sooner(w.until)
	}
	if c.run.ending == nil && c.opts.Limits.Time > 0 {
		sooner(c.ledger.began.Add(c.opts.Limits.Time))
	}
	sooner(c.run.tail)
	if at.Equal(politeness.Never) {
		timer.Stop()
		return
	}
	timer.Reset(at.Sub(now))
}

// queueAll queues every origin that has something to ask; after a refusal
// also the seed's, whose robots.txt may be another now.
func (c *Crawl) queueAll() {
	c.queue(c.frontier.Origins()...)
	if c.ledger.askRobots {
		c.queue(c.opts.Seed.Origin())
	}
}

func (c *Crawl) queue(names ...string) {
	now := c.now()
	for _, name := range names {
		o, err := c.origin(name, now)
		if err != nil {
			c.ledger.fail(err)
			return
		}
		c.schedule.enqueue(o)
	}
}

// catchUp takes in all downloads that have ended and all that was committed.
func (c *Crawl) catchUp() {
	for len(c.crew.fetched) > 0 {
		c.ended(<-c.crew.fetched)
	}
	n := c.flight.take()
	for _, j := range n.jobs {
		if c.goesFirst(j) {
			j.origin.first--
		}
		c.schedule.enqueue(j.origin)
	}
	for name := range n.origins {
		c.queue(name)
	}
	for _, o := range c.schedule.limited {
		c.schedule.enqueue(o)
	}
	c.schedule.limited = c.schedule.limited[:0]
}

// bytesLeft is how many octets may be fetched until the limit on them is reached.
func (c *Crawl) bytesLeft() int64 {
	if c.opts.Limits.Bytes <= 0 {
		return math.MaxInt64
	}
	st := c.ledger.get()
	return max(0, c.opts.Limits.Bytes-st.OfRound().Bytes)
}

// limits says whether something ends the crawl before it is done.
func (c *Crawl) limits(stop context.Context, now time.Time) {
	r, l := &c.run, &c.opts.Limits
	if r.ending != nil {
		if !r.tail.IsZero() && !now.Before(r.tail) {
			r.cancel() // what is dropped stays queued
			r.tail = time.Time{}
		}
		return
	}
	st := c.ledger.snapshot(now)
	switch err := c.ledger.failure(); {
	case err != nil:
		r.end(DiskFull, err.Error())
	case stop.Err() != nil:
		r.end(Stopped, "asked to stop")
	case l.Pages > 0 && st.OfRound().Pages >= l.Pages:
		r.endWith(Result{Ending: Limited, Limit: "max-pages", Why: fmt.Sprintf("max-pages %d is reached", l.Pages)})
	case l.Bytes > 0 && c.bytesLeft() == 0:
		r.endWith(Result{Ending: Limited, Limit: "max-bytes", Why: fmt.Sprintf("max-bytes %d is reached", l.Bytes)})
	case l.Time > 0 && now.Sub(c.ledger.began) >= l.Time:
		r.endWith(Result{Ending: Limited, Limit: "max-time", Why: fmt.Sprintf("max-time %s is over", l.Time)})
		r.tail = now.Add(maxTail)
	}
}

// over says whether the loop may return: nothing is in flight, and nothing is
// queued or it was decided to leave it.
func (c *Crawl) over() bool {
	if !c.flight.mayEnd() || len(c.crew.fetched) > 0 {
		return false
	}
	if c.run.ending != nil {
		return true
	}
	if _, waits := c.schedule.earliest(c.now()); waits || c.run.paused {
		return false
	}
	if left := c.frontier.Origins(); len(left) > 0 {
		c.queue(left...)
		return false
	}
	c.run.end(Done, "done")
	return true
}
