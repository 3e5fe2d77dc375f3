package crawler

import (
	"context"
	"log/slog"
	"time"

	"curtsy/frontier"
	"curtsy/storage"
)

// maxGroup is the most visits in one commit: half of those that may wait for
// one, so that the next group gathers while this one is written.
const maxGroup = storage.MaxGroup / 2

// maxHeld is how many octets of bodies may wait to be read, and of records to
// be committed, before nothing new is fetched: processor and disk may be slower
// than a site with large pictures.
const maxHeld = 32 << 20

// commitEvery is the least time between the beginnings of two commits when
// visits are fast; a visit that comes alone is committed at once.
const commitEvery = 20 * time.Millisecond

// commitLoop writes outcomes (step 6) until the channel is closed. After an
// error it goes on receiving, so that nobody waits for it, and writes no more.
func (c *Crawl) commitLoop() {
	var last time.Time
	for o := range c.outcomes {
		group := append(c.group[:0], o)
		group = c.gather(group, last)
		last = time.Now()
		if c.failure() == nil {
			if err := c.commit(group); err != nil {
				c.fail(err)
			}
		}
		for _, o := range group {
			c.held.Add(-int64(o.held))
			o.release()
		}
		for _, o := range group {
			if o.counted != nil {
				o.counted.Add(-1)
			}
		}
		c.group = group
		c.open.Add(-int64(len(group)))
		c.kickLoop()
	}
}

// gather takes what is there already; when the last commit is recent, it
// waits for more until commitEvery has passed.
func (c *Crawl) gather(group []*Outcome, last time.Time) []*Outcome {
	wait := commitEvery - time.Since(last)
	var timer <-chan time.Time
	if wait > 0 {
		timer = time.After(wait)
	}
	for len(group) < maxGroup {
		select {
		case o, ok := <-c.outcomes:
			if !ok {
				return group
			}
			group = append(group, o)
			continue
		default:
		}
		if timer == nil || len(c.outcomes) == 0 && c.idle() {
			return group
		}
		select {
		case o, ok := <-c.outcomes:
			if !ok {
				return group
			}
			group = append(group, o)
		case <-timer:
			timer = nil
		case <-c.idled:
		}
	}
	return group
}

// commit writes one group.
//
//	records to the segment, synced     (the data)
//	one transaction: visits, URL states, links, totals   (the pointers to it)
//	links become available, the loop is told
func (c *Crawl) commit(group []*Outcome) (err error) {
	defer storage.Guard(&err)()
	for _, o := range group {
		if err := c.append(o); err != nil {
			return err
		}
	}
	if err := c.archive.Sync(); err != nil {
		return err
	}
	for _, o := range group {
		c.settle(o)
	}
	if err := c.archive.Commit(c.snapshot()); err != nil {
		return err
	}
	if l := c.opts.Logger; l.Enabled(context.Background(), slog.LevelDebug) {
		for _, o := range group {
			o.log(l)
		}
	}
	return nil
}

// log tells of a URL that was settled, in a line.
func (o *Outcome) log(l *slog.Logger) {
	v := o.Visit
	if v == nil {
		l.Debug("no visit", "url", o.entry.URL.String(), "state", o.State.String(), "why", o.Reason)
		return
	}
	fields := []any{"url", v.URL, "status", v.Status, "bytes", v.Length, "took", v.Took.Round(time.Millisecond)}
	for _, f := range [][2]string{{"kept", v.Kept}, {"error", v.Error}, {"why", o.Reason}, {"to", v.Location}} {
		if f[1] != "" {
			fields = append(fields, f[0], f[1])
		}
	}
	l.Debug("visit", fields...)
}

// append writes the records of a visit.
func (c *Crawl) append(o *Outcome) error {
	v := o.Visit
	if v == nil {
		return nil
	}
	if o.robots != nil && !o.robots.version.At.IsZero() {
		c.archive.AddRobots(o.robots.version, o.robots.body)
	}
	if v.Kept == "" {
		c.archive.AddVisit(v)
		return nil
	}
	if err := c.deduplicate(o); err != nil {
		return err
	}
	if o.large() {
		return c.archive.AppendStream(v, func(w *storage.SegmentWriter) error {
			return o.stream(w, w.InfoID())
		})
	}
	return c.archive.Append(v, func(infoID string) ([]byte, error) {
		switch {
		case o.members != nil && o.infoID == infoID:
			return o.members, nil
		case o.members != nil: // a segment ended in the meantime
			return renamed(o.members, o.infoID, infoID)
		}
		return o.encode(nil, infoID)
	})
}

// settle tells the frontier and the totals what became of the URL.
func (c *Crawl) settle(o *Outcome) {
	if len(o.Links) > 0 {
		c.vias.led(o.entry.ID, o.entry.URL)
	}
	for _, l := range o.Links {
		c.frontier.Add(l)
		if l.Class != frontier.Disregarded {
			c.plantRobots(l.URL.Origin(), o.entry.ID)
		}
	}
	c.total(o)
	switch {
	case o.refetch:
	case !o.RetryAt.IsZero():
		o.entry.Attempts++
		c.frontier.Retry(o.entry, o.RetryAt)
	default:
		c.frontier.Finish(o.entry, o.State, o.Reason)
	}
	if o.Alias != "" {
		c.scope.Store(c.scope.Load().With(o.Alias))
	}
}

// plantRobots sees to it that an origin's robots.txt comes before its pages.
func (c *Crawl) plantRobots(origin string, via uint64) {
	if c.planted[origin] {
		return
	}
	c.planted[origin] = true
	c.frontier.Add(frontier.Link{URL: robotsURL(origin), Class: frontier.Prerequisite, Via: via, How: "robots.txt"})
}

// total counts an outcome in the state of the crawl.
func (c *Crawl) total(o *Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := o.Visit
	if v == nil {
		return
	}
	c.state.count(v, v.Class == "page" && v.Status > 0 && v.Blocked == "" && o.RetryAt.IsZero())
}

// count adds a visit to the totals.
func (s *State) count(v *storage.Visit, page bool) {
	s.Visits++
	s.Bytes += v.Length
	if page {
		s.Pages++
	}
	switch v.Kept {
	case storage.KeptResponse:
		s.Kept++
	case storage.KeptRevisit:
		s.Revisits++
	case storage.KeptWithheld:
		s.Withheld++
	}
}

func (c *Crawl) statePages() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.Pages
}

func (c *Crawl) flyingPages() int { return int(c.pages.Load()) }

func (c *Crawl) snapshot() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Origins = c.scope.Load().Origins
	s.Updated = time.Now().UTC()
	s.Elapsed += time.Since(c.began)
	return s
}

// fail keeps the first error of the committer; the loop stops on it.
func (c *Crawl) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

func (c *Crawl) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
