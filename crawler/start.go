package crawler

import (
	"context"
	"fmt"
	"time"

	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/politeness"
	"curtsy/politeness/rules"
)

// start starts one visit, or dismisses one URL that the rules exclude, if that is possible now.
func (c *Crawl) start(ctx context.Context, now time.Time) bool {
	for c.flight.mayStart(c.bytesLeft()) {
		o := c.schedule.next(now)
		if o == nil {
			return false
		}
		if c.startAt(ctx, o, now) {
			c.schedule.enqueue(o)
			return true
		}
	}
	return false
}

// startAt does so for one origin. Otherwise the origin is scheduled for when that becomes possible, or
// stays unscheduled until a response or a commit wakes it.
func (c *Crawl) startAt(ctx context.Context, o *origin, now time.Time) bool {
	none := o.rules == nil || (o.robots.busy || o.robots.away) && c.opening(o)
	if o.robots.busy && none {
		return false
	}
	if !c.wantsRobots(o, now) {
		return c.startNext(ctx, o, none, now)
	}
	if c.launch(ctx, c.robotsVisit(o), now) {
		return true
	}
	if none || o.robots.hops == 0 || c.run.ending != nil {
		return false
	}
	// It redirects to a host that may not be asked yet. Until then the rules in force apply.
	s, due, why := c.schedule, o.due, o.why
	if o.lane == nil {
		due = politeness.Never
	}
	started := c.startNext(ctx, o, none, now)
	if !started && (o.lane == nil || due.Before(o.due)) {
		s.at(o, due, why)
	}
	return started
}

// startNext starts a visit to the origin's next URL, or dismisses it.
func (c *Crawl) startNext(ctx context.Context, o *origin, none bool, now time.Time) bool {
	if none {
		c.schedule.at(o, o.robots.due, "robots.txt of "+o.name+" is fetched again")
		return false
	}
	if o.next == nil && (!c.ready(o, now) || !c.take(o, now)) {
		return false
	}
	if o.by != o.rules {
		c.judgeNext(o)
	}
	if o.verdict.Excludes() {
		c.deny(o)
		return true
	}
	e := o.next
	if st := c.ledger.get(); e.Class == frontier.Page && !c.flight.mayStartPage(st.OfRound().Pages) {
		c.schedule.limited = append(c.schedule.limited, o)
		return false
	}
	j := &job{origin: o, Attempt: visit.Attempt{Entry: e, URL: e.URL, N: e.Attempts + 1, Rules: o.rules,
		Allowed: o.judged}}
	if !c.launch(ctx, j, now) {
		return false
	}
	o.next = nil
	return true
}

// wantsRobots reports whether robots.txt is to be fetched before anything else: it is needed, and it is
// due, or due later than possible because the clock was set back.
func (c *Crawl) wantsRobots(o *origin, now time.Time) bool {
	wait := o.robots.due.Sub(now)
	if o.gone || o.robots.busy || wait > 0 && wait <= max(c.opts.MaxRobotsAge, time.Hour) {
		return false
	}
	return o.rules == nil || o.robots.due.IsZero() || o.next != nil || c.hasWork(o)
}

// ready reports whether an entry of the origin should be taken from the frontier now: not while it would
// have to wait for its pace, since more urgent URLs may be found meanwhile, and not while robots.txt or a
// sitemap of the origin is being fetched.
func (c *Crawl) ready(o *origin, now time.Time) bool {
	if o.first > 0 || !c.hasWork(o) {
		return false
	}
	if c.flight.isRendering() && !c.frontier.Urgent(o.name) {
		c.schedule.limited = append(c.schedule.limited, o) // no further page until a rendering has ended
		return false
	}
	w := o.pace.Next(now)
	if !w.At.After(now) {
		return true
	}
	if gave, why := o.pace.GaveUp(); gave {
		c.gaveUp(o, why)
		return o.gone
	}
	c.schedule.at(o, w.At, w.Why)
	return false
}

// take takes the next entry of the origin from the frontier.
func (c *Crawl) take(o *origin, now time.Time) bool {
	e, err := c.frontier.Next(o.name, now)
	if err != nil {
		c.ledger.fail(err)
		return false
	}
	if e == nil {
		if w, ok := c.frontier.Waiting(o.name); ok && w.Due.After(now) {
			wait := min(w.Due.Sub(now), c.opts.longestRetry()) // relative to now: the clock may be set
			c.schedule.at(o, now.Add(wait), retryText(w))
		}
		return false
	}
	if e.Class == frontier.Prerequisite {
		// Fetched by robotsVisit, from the entry that recall found.
		o.robots.entry = e
		return c.take(o, now)
	}
	o.next, o.by = e, nil
	return true
}

// retryText says what an origin with only retries left is waiting for. The URL comes last, since a
// terminal may truncate it.
func retryText(w frontier.Waiting) string {
	if w.More == 0 {
		return "retry of " + w.URL.String()
	}
	return fmt.Sprintf("retry of the first of %d: %s", w.More+1, w.URL)
}

// judgeNext judges o.next again when its turn comes: scope and robots.txt may have changed since it was
// queued.
func (c *Crawl) judgeNext(o *origin) {
	e, d := o.next, o.gate(o.next)
	if d.Differs != "" {
		c.opts.Logger.Warn("robots.txt: two readings of a rule differ, the stricter applies", "url", e.URL,
			"rule", d.Differs)
	}
	at := judge.Taken
	if e.Class < frontier.Requisite || e.IsSeed() {
		at = judge.Asked
	}
	o.judged, o.by = &d, o.rules
	f := c.reader.Facts()
	f.Decision, f.Version = &rules.Verdict{Allow: d.Allow, Line: d.Line, Rule: d.Rule}, d.Version
	o.verdict = judge.Decide(at, c.asNamed(e), f)
}

// deny dismisses o.next, which a rule excludes.
func (c *Crawl) deny(o *origin) {
	e, why := o.next, o.verdict.Reason
	if why.Rule == judge.Name {
		c.askAtPrimary(o)
		return
	}
	if e.IsSeed() {
		// It stays queued: the site may allow it later.
		o.next = nil
		c.run.endWith(Result{Ending: Refused, Why: fmt.Sprintf("%s is denied by %s/%s", e.URL, o.name, why),
			Denied: true})
		return
	}
	if why.Rule == judge.Guess {
		c.frontier.Dismissed(e.URL)
	}
	o.next = nil
	c.dismiss(&visit.Outcome{Entry: e, State: frontier.StateDisregarded, Reason: why,
		News: visit.News{Narrowed: why.Rule != judge.Robots}})
}

// launch starts a visit if all paces it must keep allow it now: that of its host, and that of the site
// or of all other hosts.
func (c *Crawl) launch(ctx context.Context, j *job, now time.Time) bool {
	o := j.origin
	if err := c.pacesOf(j); err != nil {
		c.ledger.fail(err)
		return false
	}
	for _, p := range j.paces {
		w := p.Next(now)
		if !w.At.After(now) {
			continue
		}
		if gave, why := p.GaveUp(); gave {
			c.gaveUp(o, why)
			return o.gone
		}
		c.schedule.at(o, w.At, w.Why)
		return false
	}
	if !o.ended.IsZero() {
		j.Waited = now.Sub(o.ended)
	}
	j.pause, j.Delay = o.pace.Delay()
	j.Now = now
	for _, p := range j.paces {
		p.Start(now)
	}
	if j.Robots != nil {
		o.robots.busy = true
	}
	if c.goesFirst(j) {
		o.first++
	}
	c.flight.launch(j)
	c.crew.visit(ctx, j, c.work)
	return true
}

// pacesOf sets the paces that a visit must keep.
func (c *Crawl) pacesOf(j *job) error {
	p, err := c.pace(j.URL) // the origin's, unless its robots.txt redirects to another host
	if err != nil {
		return err
	}
	j.paces = []*pace{p}
	p.waits(j.origin)
	switch s := c.reader.Scope(); {
	case !s.Holds(j.URL) && !s.Sibling(j.URL):
		j.paces = append(j.paces, c.schedule.others.pace)
	case j.URL.Host() != c.opts.Seed.Host(): // names of the site and hosts of its domain share the site's pace
		p, err := c.pace(c.opts.Seed)
		if err != nil {
			return err
		}
		j.paces = append(j.paces, p)
		p.waits(j.origin)
	}
	return nil
}

// ended handles the end of a download: it updates the paces and applies a new robots.txt.
func (c *Crawl) ended(d *download) {
	o := d.job.origin
	defer c.enqueueAll(d.job)
	if d.loggedOut != "" {
		c.run.end(Stopped, d.loggedOut)
		return
	}
	if d.blocked != "" {
		o.pace.Blocked(d.end, d.blocked)
		c.ledger.remember(o.pace)
		return
	}
	c.flight.answered()
	o.ended = d.end
	for _, p := range d.job.paces {
		r := politeness.Result{} // a failure counts only for its own host
		if p.host == d.job.URL.Host() {
			r = d.result
		}
		p.Done(d.end.Add(o.pace.margin()), r)
		if p != c.schedule.others.pace {
			c.ledger.remember(p)
		}
	}
	c.run.rate.add(d.end)
	if d.local != nil {
		c.run.end(Stopped, d.local.Error())
		return
	}
	if d.robots == nil {
		return
	}
	if refused := c.robotsHad(o, d.robots, c.now()); refused != "" {
		c.withoutRules(o, d.robots, refused)
	}
}

// enqueueAll reschedules the origins that share a pace with the visit.
func (c *Crawl) enqueueAll(j *job) {
	for _, p := range j.paces {
		for _, o := range p.origins {
			c.schedule.enqueue(o)
		}
	}
}
