package crawler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"curtsy/crawler/revisit"
	"curtsy/crawler/robotstxt"
	"curtsy/crawler/status"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// maxGroup is the most visits in one commit: half of what the outcomes channel holds, so that
// the next group gathers while this one is written.
const maxGroup = storage.MaxGroup / 2

// commitEvery is the least time between the starts of two commits when visits are frequent
// (Options.CommitEvery may raise it). A single visit is committed at once.
const commitEvery = 20 * time.Millisecond

// committer is the state of the goroutine that runs commitLoop. No other goroutine uses it.
type committer struct {
	group   []*outcome
	names   []string        // origins that this group's visits showed to be names of the site
	planted map[string]bool // origins whose robots.txt is already in the frontier
	answers revisit.Answers
	fresh   map[string]bool // origins that got URLs since the last commit
	circles visit.Circles
}

// commitLoop commits outcomes (step 6) until the channel is closed. After an error it keeps
// receiving, so that no sender blocks, but writes nothing more.
func (c *Crawl) commitLoop(ctx context.Context) {
	var last time.Time
	for o := range c.crew.outcomes {
		group := append(c.committer.group[:0], o)
		group = c.gather(group, last)
		last = c.now()
		if c.ledger.failure() == nil {
			err := c.commit(group)
			if err == nil {
				err = c.announce(ctx, group, last)
			}
			if err != nil {
				c.ledger.fail(err)
			}
		}
		for _, o := range group {
			o.release()
			if o.job != nil {
				o.job.Done()
			}
			if o.Outcome != nil {
				o.Links = nil
			}
		}
		c.committer.group = group
		c.flight.committed(group, c.committer.fresh)
		c.committer.fresh = nil
	}
}

// gather adds the outcomes that are already waiting to group. Unless the last commit is at least
// commitEvery ago, it waits for more until that time has passed or flight.mayCommit says that no
// more can come.
func (c *Crawl) gather(group []*outcome, last time.Time) []*outcome {
	wait := max(commitEvery, c.opts.CommitEvery) - c.now().Sub(last)
	var timer <-chan time.Time
	if wait > 0 {
		timer = time.After(wait)
	}
	outcomes := c.crew.outcomes
	for len(group) < maxGroup {
		select {
		case o, ok := <-outcomes:
			if !ok {
				return group
			}
			group = append(group, o)
			continue
		default:
		}
		if timer == nil || len(outcomes) == 0 && c.flight.mayCommit() {
			return group
		}
		select {
		case o, ok := <-outcomes:
			if !ok {
				return group
			}
			group = append(group, o)
		case <-timer:
			timer = nil
		case <-c.flight.idled:
		}
	}
	return group
}

// commit writes one group, in this order:
//
//	the WARC records, which are synced
//	one transaction: visits, URL states, links, totals
//	newly learned names take effect
func (c *Crawl) commit(group []*outcome) (err error) {
	defer storage.Guard(&err)()
	for _, o := range group {
		if err := c.append(o); err != nil {
			return err
		}
		if err := c.sameAnswer(o); err != nil {
			return err
		}
	}
	if err := c.archive.Sync(); err != nil {
		return err
	}
	for _, o := range group {
		if err := c.dispose(o); err != nil {
			return err
		}
	}
	if err := c.archive.Commit(c.State()); err != nil {
		return err
	}
	if err := c.adopt(); err != nil {
		return err
	}
	c.tabs.committed(group)
	if l := c.opts.Logger; l.Enabled(context.Background(), slog.LevelDebug) {
		for _, o := range group {
			o.log(l)
		}
	}
	return nil
}

// announce calls OnCommit and OnVisit for the committed visits.
func (c *Crawl) announce(ctx context.Context, group []*outcome, began time.Time) error {
	if c.opts.OnCommit != nil {
		done := Commit{Began: began, Took: c.now().Sub(began)}
		for _, o := range group {
			if o.Visit != nil {
				done.Visits = append(done.Visits, o.Visit)
			}
		}
		c.opts.OnCommit(done)
	}
	if c.opts.OnVisit == nil {
		return nil
	}
	for _, o := range group {
		if o.Visit == nil {
			continue
		}
		if err := c.opts.OnVisit(ctx, o.Visit); err != nil {
			return fmt.Errorf("visit of %s: %w", o.Visit.URL, err)
		}
	}
	return nil
}

// log writes one debug line about a settled URL.
func (o *outcome) log(l *slog.Logger) {
	v := o.Visit
	if v == nil {
		l.Debug("no visit", "url", o.Entry.URL.String(), "state", o.State.String(), "why", o.Reason.String())
		return
	}
	fields := []any{"url", v.URL, "status", v.Status, "bytes", v.Length, "took", v.Took.Round(time.Millisecond)}
	for _, f := range [][2]string{{"kept", v.Kept}, {"error", v.Error}, {"why", o.Reason.String()},
		{"to", v.Location}} {
		if f[1] != "" {
			fields = append(fields, f[0], f[1])
		}
	}
	l.Debug("visit", fields...)
}

// append writes the visit's records, and the robots.txt and usage files it brought.
func (c *Crawl) append(o *outcome) error {
	v := o.Visit
	if v == nil {
		return nil
	}
	if o.Robots != nil && !o.Robots.Version.At.IsZero() {
		c.archive.AddRobots(o.Robots.Version, o.Robots.Body)
	}
	if o.UsageFile != nil {
		c.archive.AddRobots(o.UsageFile.Version, o.UsageFile.Body)
	}
	if v.Kept == "" {
		return c.archive.Append(v, nil)
	}
	if err := c.reader.Deduplicate(o.Outcome); err != nil {
		return err
	}
	if err := c.archive.Append(v, o.records.Write); err != nil {
		if !errors.Is(err, storage.ErrEncode) {
			return err
		}
		o.Outcome = c.reader.Unwritten(&o.job.Attempt, o.records, err)
		return c.archive.Append(o.Visit, nil)
	}
	if o.Facts != nil {
		c.archive.KeepFacts(v, o.Facts)
	}
	return nil
}

// dispose updates the frontier and the totals with the outcome.
func (c *Crawl) dispose(o *outcome) error {
	if len(o.Links) > 0 {
		c.reader.RememberVia(o.Outcome)
	}
	last := ""
	for _, l := range o.Links {
		c.admitNamed(&l)
		c.frontier.Add(l)
		if origin := l.URL.Origin(); l.Class != frontier.Disregarded && origin != last {
			c.plantRobots(origin, o.Entry.ID)
			last = origin
		}
	}
	if err := c.total(o); err != nil {
		return err
	}
	if err := c.robotsCame(o); err != nil {
		return err
	}
	switch {
	case o.Refetch:
	case !o.RetryAt.IsZero():
		o.Entry.Attempts++
		c.frontier.Retry(o.Entry, o.RetryAt)
	default:
		c.frontier.Finish(o.Entry, o.State, o.Reason)
		c.askElsewhere(o)
	}
	if o.Again > 0 {
		c.frontier.Requeue(o.Again, c.archive.LastN(o.Again))
	}
	c.learnNames(o.Names)
	for _, note := range o.Notes {
		c.opts.Tell(note)
	}
	return nil
}

// plantRobots adds an origin's robots.txt to the frontier, once; its class puts it before the origin's
// pages. It also marks the origin as having new URLs, for the schedule.
func (c *Crawl) plantRobots(origin string, via uint64) {
	if !c.committer.fresh[origin] {
		if c.committer.fresh == nil {
			c.committer.fresh = map[string]bool{}
		}
		c.committer.fresh[origin] = true
	}
	if c.committer.planted[origin] {
		return
	}
	c.committer.planted[origin] = true
	c.frontier.Add(robotstxt.Link(origin, via))
}

// robotsCame records that robots.txt has been answered. When it was a refetch, it queues the
// origin's usage preference files again.
func (c *Crawl) robotsCame(o *outcome) error {
	if o.Robots == nil || !o.Robots.Version.Used {
		return nil
	}
	if c.isMain(o.job.origin) {
		c.ledger.change(func(s *status.State) { s.AskRobots = false })
	}
	if !o.Refetch {
		return nil
	}
	for _, reader := range usage.Files() {
		found, err := c.frontier.Find(weburl.FromCanonical(o.Entry.URL.Origin() + reader.File))
		if err != nil {
			return err
		}
		for _, f := range found {
			c.frontier.Requeue(f.ID, c.archive.LastN(f.ID))
		}
	}
	return nil
}

// total counts an outcome in the state of the crawl.
func (c *Crawl) total(o *outcome) error {
	if o.Narrowed {
		c.ledger.change(func(s *status.State) { s.Narrowed = true })
	}
	v := o.Visit
	if v == nil {
		return nil
	}
	c.committer.circles.Note(v)
	var earlier []*crawllog.Visit
	if v.N > 1 {
		var err error
		if earlier, err = c.archive.VisitsOf(v.URLID); err != nil {
			return err
		}
		earlier = slices.DeleteFunc(earlier, func(w *crawllog.Visit) bool { return w.N >= v.N })
	}
	page := v.Class == "page" && v.Status > 0 && v.Blocked == "" && o.RetryAt.IsZero()
	c.ledger.change(func(s *status.State) {
		s.Count(v, page)
		s.Hold(v, earlier)
	})
	return nil
}
