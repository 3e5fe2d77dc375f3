package crawler

import (
	"errors"
	"fmt"
	"time"

	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// ErrUnfinished reports that a round cannot begin because the crawl before it is not finished.
var ErrUnfinished = errors.New("the crawl is not finished")

// beginRound begins a round, if one is asked for, over a crawl that is finished or has reached a limit,
// or continues a round that has begun.
func (c *Crawl) beginRound(finished bool) error {
	s := &c.ledger.state
	if c.opts.Round == nil {
		if s.Round == nil || s.Finished && s.Round.Planned {
			return nil
		}
		c.opts.Round = &revisit.Options{}
		return c.planRound()
	}
	isNew := (finished || c.full()) && !c.RoundOpen() ||
		s.Round != nil && s.Round.Planned && len(c.frontier.Origins()) == 0
	c.tellQueued(isNew)
	if isNew {
		now := c.now().UTC()
		s.Round = &status.Round{N: len(s.Rounds) + 1, Began: now, Auto: c.opts.Round.Auto, Pages: s.Pages,
			Bytes: s.Bytes}
		s.Rounds = append(s.Rounds, now)
		s.Finished, s.AskRobots = false, true
		c.ledger.askRobots = true
	}
	if s.Round == nil {
		return ErrUnfinished
	}
	return c.planRound()
}

// tellQueued says which URLs are visited although the round that is asked for would not choose them.
func (c *Crawl) tellQueued(isNew bool) {
	n, of := c.frontier.Counts().Queued(), c.ledger.state.Round
	switch o := c.opts.Round; {
	case n == 0 || o.OlderThan == 0 && !o.Auto && o.Only == nil:
	case isNew:
		c.opts.Tell("earlier runs left " + legible.Count(n, "URL") +
			" queued: visited first, whatever this round chooses")
	case of != nil && of.Planned:
		c.opts.Tell(fmt.Sprintf("round %d is not finished: it goes on with the %s that it had chosen; "+
			"what is chosen now is for the next round", of.N, legible.Count(n, "URL")))
	}
}

// full reports whether the crawl, or its last round, has reached a limit: what is still queued then
// waits for a higher limit.
func (c *Crawl) full() bool {
	s, l := &c.ledger.state, &c.opts.Limits
	return l.Pages > 0 && s.OfRound().Pages >= l.Pages || l.Bytes > 0 && s.OfRound().Bytes >= l.Bytes
}

// planRound queues what the round is to visit.
func (c *Crawl) planRound() error {
	s := &c.ledger.state
	if s.Round.Planned {
		_, err := c.committer.answers.Recall(c.archive, s.Round.Began, time.Time{})
		return err
	}
	s.Finished = false
	r := revisit.Round{Options: *c.opts.Round, State: s.Round, Now: c.now(), Queue: c.commitFrontier, Beyond: c.beyond}
	if err := r.Plan(c.archive); err != nil {
		return err
	}
	return c.commitFrontier()
}

// beyond reports whether a URL is a page of another site; an import may have added such pages.
func (c *Crawl) beyond(last *crawllog.Visit) bool {
	return last.Class == frontier.Page.String() && !c.reader.Scope().Holds(weburl.FromCanonical(last.URL))
}

// RoundOpen reports whether only the first part of a round has been planned; opening the archive again
// plans the rest.
func (c *Crawl) RoundOpen() bool { return c.ledger.state.Round != nil && !c.ledger.state.Round.Planned }

// sameAnswer marks visits of a round that returned one response for several pages.
func (c *Crawl) sameAnswer(o *outcome) error {
	if o.Visit == nil || o.job == nil {
		return nil
	}
	for _, ref := range c.committer.answers.Add(o.Visit, o.job.Good) {
		if err := c.archive.Amend(ref, func(v *crawllog.Visit) { v.Suspect = revisit.SameBody }); err != nil {
			return err
		}
	}
	return nil
}
