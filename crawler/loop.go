package crawler

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"curtsy/frontier"
	"curtsy/politeness"
	"curtsy/storage"
)

// waiting is what the loop waits for, when it has nothing to start.
type waiting struct {
	until time.Time // zero: until something happens
	why   string
}

// soon keeps the earliest wait.
func (w *waiting) soon(until time.Time, why string) {
	if w.why == "" || until.Before(w.until) {
		w.until, w.why = until, why
	}
}

// loop hands out URLs (steps 1 and 2) until the crawl ends. It alone touches
// hosts. It fits on a screen: take what came back, start what may start,
// else wait for whichever comes first.
func (c *Crawl) loop(ctx, stop context.Context) Result {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	c.report("running")
	if c.askRobots {
		if _, err := c.host(c.opts.Seed.Origin()); err != nil {
			c.fail(err)
		}
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		c.drain()
		if c.ending == nil {
			c.ending = c.limits(stop)
		}
		now := time.Now()
		c.wait = waiting{}
		if c.ending == nil && c.start(ctx, now) {
			continue
		}
		if c.over() {
			return *c.ending
		}
		if c.wait.why != "" && !c.wait.until.Equal(politeness.Never) {
			timer.Reset(c.wait.until.Sub(now))
		} else {
			timer.Stop()
		}
		stopping := stop.Done()
		if c.ending != nil {
			stopping = nil
		}
		select {
		case d := <-c.fetched:
			c.ended(d)
		case <-c.kick:
		case <-timer.C:
		case <-tick.C:
			c.report("running")
		case <-stopping:
		case <-ctx.Done():
			c.end(Stopped, "stopped at once")
			return *c.ending
		}
	}
}

// drain takes in all downloads that have ended.
func (c *Crawl) drain() {
	for {
		select {
		case d := <-c.fetched:
			c.ended(d)
		default:
			return
		}
	}
}

// limits says whether something ends the crawl before it is done.
func (c *Crawl) limits(stop context.Context) *Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.opts.Limits
	switch {
	case c.err != nil:
		return &Result{Ending: DiskFull, Why: c.err.Error()}
	case stop.Err() != nil:
		return &Result{Ending: Stopped, Why: "asked to stop"}
	case l.Pages > 0 && c.state.Pages >= l.Pages:
		return &Result{Ending: Limited, Why: fmt.Sprintf("max-pages %d is reached", l.Pages)}
	case l.Bytes > 0 && c.state.Bytes >= l.Bytes:
		return &Result{Ending: Limited, Why: fmt.Sprintf("max-bytes %d is reached", l.Bytes)}
	case l.Time > 0 && time.Since(c.began) >= l.Time:
		return &Result{Ending: Limited, Why: fmt.Sprintf("max-time %s is over", l.Time)}
	}
	return nil
}

// over says whether the loop may return: nothing is in flight, and nothing is
// queued or it was decided to leave it.
func (c *Crawl) over() bool {
	if c.open.Load() > 0 || len(c.fetched) > 0 {
		return false
	}
	if c.ending != nil {
		return true
	}
	if c.wait.why != "" || len(c.frontier.Origins()) > 0 {
		return false
	}
	c.end(Done, "done")
	return true
}

func (c *Crawl) end(e Ending, why string) {
	if c.ending == nil {
		c.ending = &Result{Ending: e, Why: why}
	}
}

// start starts one thing, if anything may be started now: a visit, or the
// dismissal of a URL that the rules deny. If not, c.wait says what for.
func (c *Crawl) start(ctx context.Context, now time.Time) bool {
	if c.open.Load() >= storage.MaxGroup+int64(c.opts.Pace.Concurrency) || c.held.Load() >= maxHeld {
		return false // the committer is behind, its kick wakes us; and a kill must not cost more than this
	}
	for _, origin := range c.frontier.Origins() {
		if _, err := c.host(origin); err != nil {
			c.fail(err)
			return false
		}
	}
	for _, h := range c.hosts {
		if c.startAt(ctx, h, now) {
			return true
		}
	}
	return false
}

func (c *Crawl) startAt(ctx context.Context, h *host, now time.Time) bool {
	if h.robots.busy && h.rules == nil {
		return false
	}
	if !h.gone && h.needsRobots(now) && (h.rules == nil || h.robots.due.IsZero() || h.next != nil || c.hasWork(h)) {
		return c.launch(ctx, h, c.robotsVisit(h), now)
	}
	if h.rules == nil {
		c.wait.soon(h.robots.due, "robots.txt of "+h.origin+" is asked for again")
		return false
	}
	if h.next == nil && (!c.ready(h, now) || !c.take(h, now)) {
		return false
	}
	if h.by != h.rules {
		if reason, ok := c.stillInScope(h.next); !ok {
			c.dismiss(h, reason)
			return true
		}
		d := h.gate(h.next)
		h.judged, h.by = &d, h.rules
		if d.Differs != "" {
			c.opts.Logger.Warn("robots.txt: two readings of a rule differ, the stricter holds", "url", h.next.URL, "rule", d.Differs)
		}
	}
	if !h.judged.Allow {
		c.deny(h)
		return true
	}
	if c.opts.Limits.Pages > 0 && h.next.Class == frontier.Page && c.statePages()+c.flyingPages() >= c.opts.Limits.Pages {
		return false // what is in flight may reach max-pages
	}
	e := h.next
	j := &job{entry: e, url: e.URL, n: e.Attempts + 1, rules: h.rules, allowed: h.judged, host: h}
	if !c.launch(ctx, h, j, now) {
		return false
	}
	h.next = nil
	return true
}

// ready says whether an entry of the host should be taken now: not while it
// would have to wait, since what is found in the meantime may come before
// it, and not while robots.txt or a sitemap is on its way.
func (c *Crawl) ready(h *host, now time.Time) bool {
	if h.listings.Load() > 0 {
		return false // their commit wakes us
	}
	w := h.pace.Next(now)
	if !w.At.After(now) {
		return true
	}
	if gave, why := h.pace.GaveUp(); gave && c.hasWork(h) {
		c.gaveUp(h, why)
		return h.gone
	} else if !w.Busy && c.hasWork(h) {
		c.wait.soon(w.At, w.Why)
	}
	return false
}

func (c *Crawl) hasWork(h *host) bool {
	_, ok := c.frontier.Waiting(h.origin)
	return ok
}

// take takes the next entry of the host from the frontier.
func (c *Crawl) take(h *host, now time.Time) bool {
	e, err := c.frontier.Next(h.origin, now)
	if err != nil {
		c.fail(err)
		return false
	}
	if e == nil {
		if due, ok := c.frontier.Waiting(h.origin); ok && due.After(now) {
			c.wait.soon(due, "a visit that failed is tried again")
		}
		return false
	}
	if e.Class == frontier.Prerequisite {
		// Fetched by robotsVisit, from the entry that recall found.
		h.robots.entry = e
		return c.take(h, now)
	}
	h.next, h.by = e, nil
	return true
}

// deny dismisses h.next: robots.txt denies it.
func (c *Crawl) deny(h *host) {
	e := h.next
	why := denial(*h.judged)
	if h.judged.Version != "" {
		why += " (version " + h.judged.Version + ")"
	}
	if e.How == "seed" {
		// It stays queued: the owner may let us in some day.
		h.next = nil
		c.end(Refused, fmt.Sprintf("%s is denied by %s/%s", e.URL, h.origin, why))
		return
	}
	c.dismiss(h, why)
}

// dismiss finishes h.next without a visit.
func (c *Crawl) dismiss(h *host, why string) {
	e := h.next
	h.next = nil
	c.open.Add(1)
	c.outcomes <- &Outcome{entry: e, State: frontier.StateDisregarded, Reason: why}
}

// stillInScope judges what was queued by the scope of an earlier run by that
// of this one.
func (c *Crawl) stillInScope(e *frontier.Entry) (reason string, ok bool) {
	if e.Class < frontier.Requisite || e.How == "seed" {
		return "", true
	}
	if reason, ok = c.scope.Load().Judge(&e.Link); !ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state.Narrowed = true
	}
	return reason, ok
}

// robotsVisit is the job of asking for a robots.txt.
func (c *Crawl) robotsVisit(h *host) *job {
	s := &h.robots
	j := &job{entry: s.entry, url: s.url, n: s.visits + 1, refetch: s.done, host: h,
		robots: &robotsJob{host: h, hops: s.hops, had: h.from}}
	if h.rules != nil && s.hops == 0 && h.from.Digest != "" && (h.from.ETag != "" || h.from.LastMod != "") {
		j.robots.original = c.original(s.entry)
	}
	if j.robots.original != nil {
		j.conditional = true
		j.header = http.Header{}
		if h.from.ETag != "" {
			j.header.Set("If-None-Match", h.from.ETag)
		}
		if h.from.LastMod != "" {
			j.header.Set("If-Modified-Since", h.from.LastMod)
		}
	}
	return j
}

// launch starts a visit, if the limiter lets it start now.
func (c *Crawl) launch(ctx context.Context, h *host, j *job, now time.Time) bool {
	if w := h.pace.Next(now); w.At.After(now) {
		if gave, why := h.pace.GaveUp(); gave {
			c.gaveUp(h, why)
			return h.gone
		}
		if !w.Busy {
			c.wait.soon(w.At, w.Why)
		}
		return false
	}
	if !h.ended.IsZero() {
		j.waited = now.Sub(h.ended)
	}
	j.pause, j.delay = h.pace.Delay()
	j.now = now
	h.pace.Start(now)
	if j.robots != nil {
		h.robots.busy = true
	}
	if j.counted = c.counter(h, j.entry.Class); j.counted != nil {
		j.counted.Add(1)
	}
	c.open.Add(1)
	c.flying.Add(1)
	c.visits.Add(1)
	select {
	case c.jobs <- j:
	default: // nobody is idle
		c.workers.Go(func() { c.work(ctx, j) })
	}
	return true
}

// counter is where visits to URLs of a class are counted until they are committed.
func (c *Crawl) counter(h *host, class frontier.Class) *atomic.Int64 {
	switch class {
	case frontier.Prerequisite, frontier.Sitemap:
		return &h.listings
	case frontier.Page:
		return &c.pages
	}
	return nil
}

// ended takes in a download: the limiter learns, robots.txt takes effect.
func (c *Crawl) ended(d *download) {
	h := d.job.host
	if d.blocked != "" {
		h.pace.Blocked(d.end, d.blocked)
		c.remember(robotsURL(h.origin).Host(), h.pace)
		return
	}
	h.ended = d.end
	h.pace.Done(d.end.Add(h.margin()), d.result)
	c.remember(robotsURL(h.origin).Host(), h.pace)
	c.rate.add(d.end)
	if d.local != nil {
		c.end(Stopped, d.local.Error())
		return
	}
	if d.robots == nil {
		return
	}
	if refused := c.robotsHad(d.robots, time.Now()); refused != "" {
		c.withoutRules(h, refused)
	}
}

// margin is added to the end of a download before the pause begins. A server
// is done with us only when its last write has returned, which may be after
// we have read what it wrote, and it is the server's clock that counts.
func (h *host) margin() time.Duration {
	d, _ := h.pace.Delay()
	return min(d/200, time.Millisecond)
}

// kickLoop wakes the loop after a commit.
func (c *Crawl) kickLoop() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}
