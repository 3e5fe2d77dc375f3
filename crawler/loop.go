package crawler

import (
	"context"
	"fmt"
	"math"
	"time"

	"curtsy/politeness"
)

// run is the loop's state for the present run.
type run struct {
	ending    *Result
	paused    bool
	cancel    context.CancelFunc // cancels the visits in flight
	tail      time.Time          // when the visits in flight are cancelled; zero: never
	leave     context.CancelFunc // cancels the pages being rendered
	wait      waiting            // what the schedule is waiting for
	rate      meter
	trend     trend
	published time.Time // when status.json was last written
}

// maxTail is how long visits in flight may continue after max-time.
const maxTail = 10 * time.Second

// end decides how the run ends, unless that has been decided.
func (r *run) end(e Ending, why string) { r.endWith(Result{Ending: e, Why: why}) }

func (r *run) endWith(result Result) {
	if r.ending != nil {
		return
	}
	r.ending = &result
	if r.leave != nil {
		r.leave() // nothing more is fetched for them
	}
}

// loop hands out URLs (steps 1 and 2) until the crawl ends. Only the loop uses the schedule. Each
// iteration takes in what has finished, then starts a visit or waits for the next event.
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

// set sets the timer to when a visit may start, a limit is reached or the visits in flight are to be
// cancelled.
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

// queueAll schedules every origin with queued URLs. After a refusal it also schedules the seed's
// origin, whose robots.txt may have changed.
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

// catchUp processes all downloads that have ended and the news of all commits.
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

// bytesLeft returns how many octets may be fetched within Limits.Bytes.
func (c *Crawl) bytesLeft() int64 {
	if c.opts.Limits.Bytes <= 0 {
		return math.MaxInt64
	}
	st := c.ledger.get()
	return max(0, c.opts.Limits.Bytes-st.OfRound().Bytes)
}

// limits ends the run if an error, a request to stop or a limit requires it.
func (c *Crawl) limits(stop context.Context, now time.Time) {
	r, l := &c.run, &c.opts.Limits
	if r.ending != nil {
		if !r.tail.IsZero() && !now.Before(r.tail) {
			r.cancel() // cancelled URLs stay queued
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

// over reports whether the loop may return: nothing is in flight, and nothing is queued or the run is
// to end anyway.
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
