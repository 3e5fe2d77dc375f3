package crawler

import (
	"errors"
	"regexp"
	"slices"
	"time"

	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/warc"
)

// ErrUnfinished says that a round cannot begin: the crawl before it has not
// come to its end.
var ErrUnfinished = errors.New("the crawl is not finished")

// RoundOptions are what a round visits again.
type RoundOptions struct {
	OlderThan time.Duration  // URLs whose last visit is older; 0 is all
	Auto      bool           // URLs that are due (revisit.Due), in place of OlderThan
	Only      *regexp.Regexp // URLs that match; nil is all
}

// planBatch is how many URLs one commit of a plan queues.
const planBatch = 5000

// beginRound begins a round over an archive whose crawl is finished, if one is
// asked for, or continues the one that has begun.
func (c *Crawl) beginRound() error {
	s := &c.ledger.state
	if c.opts.Round == nil {
		if s.Round == nil || s.Finished && s.Round.Planned {
			return nil
		}
		c.opts.Round = &RoundOptions{}
		return c.planRound()
	}
	if s.Finished && !c.RoundOpen() || s.Round != nil && s.Round.Planned && len(c.frontier.Origins()) == 0 {
		now := c.now().UTC()
		s.Round = &status.Round{Began: now, Auto: c.opts.Round.Auto, Pages: s.Pages, Bytes: s.Bytes}
		s.Rounds = append(s.Rounds, now)
		s.Finished, s.AskRobots = false, true
		c.ledger.askRobots = true
	}
	if s.Round == nil {
		return ErrUnfinished
	}
	return c.planRound()
}

// planRound queues what the round visits again: what sitemaps say of pages is
// known before those of an automatic round are chosen.
func (c *Crawl) planRound() error {
	r := c.ledger.state.Round
	if r.Planned {
		return c.recallAnswers()
	}
	sitemapsOnly := r.Auto && !r.Listed
	c.ledger.state.Finished = false
	p := plan{crawl: c, round: r, sitemaps: sitemapsOnly}
	if r.Auto && r.Listed {
		p.lastMod = c.lastMods()
	}
	if err := p.queue(); err != nil {
		return err
	}
	r.Listed, r.Planned = true, !sitemapsOnly
	return c.commitFrontier()
}

// RoundOpen says that Run has done what a part of a round was planned of, and
// that opening the archive once more plans the rest.
func (c *Crawl) RoundOpen() bool { return c.ledger.state.Round != nil && !c.ledger.state.Round.Planned }

// plan is the choice of what a round visits again.
type plan struct {
	crawl    *Crawl
	round    *status.Round
	sitemaps bool // sitemaps alone
	lastMod  map[warc.Digest]time.Time
	held     []frontier.Found // pages that differ at each visit
	batch    []frontier.Found
}

// queue walks over all visits, by URL.
func (p *plan) queue() error {
	if err := p.crawl.eachHistory(p.consider); err != nil {
		return err
	}
	if err := p.commit(); err != nil {
		return err
	}
	// Pages that differ at each visit get a fifth of the round at the most.
	p.batch = append(p.batch, p.held[:min(p.round.Queued/4+1, len(p.held))]...)
	return p.commit()
}

// consider queues a URL that the round is to visit.
func (p *plan) consider(visits []*storage.Visit) error {
	last, o := visits[len(visits)-1], p.crawl.opts.Round
	isMap := last.Class == frontier.Sitemap.String()
	switch {
	case last.Class == frontier.Prerequisite.String(), !last.At.Before(p.round.Began), p.sitemaps && !isMap:
		return nil
	case isMap:
	case o.Only != nil && !o.Only.MatchString(last.URL):
		return nil
	case !p.round.Auto:
		if o.OlderThan > 0 && p.round.Began.Sub(last.At) < o.OlderThan {
			return nil
		}
	default:
		due := revisit.Due(visits, p.lastMod[warc.Sum([]byte(last.URL))])
		if due.At.After(p.round.Began) {
			return nil
		}
		if due.Always() {
			p.held = append(p.held, requeued(last))
			return nil
		}
	}
	p.batch = append(p.batch, requeued(last))
	if len(p.batch) < planBatch {
		return nil
	}
	return p.commit()
}

func requeued(last *storage.Visit) frontier.Found {
	f := frontier.Found{}
	f.ID, f.Attempts = last.URLID, last.N
	return f
}

func (p *plan) commit() error {
	p.round.Queued += len(p.batch)
	err := p.crawl.commitFrontier(p.batch...)
	p.batch = p.batch[:0]
	return err
}

// sameAnswers finds, in one round, answers that take the place of several pages:
// by digest, the visits that changed to it. The committer owns it.
type sameAnswers map[string][]storage.Ref

// add takes in a visit whose answer differs from that of the last good one, and
// gives those that are suspect now.
func (s sameAnswers) add(v *storage.Visit) (suspect []storage.Ref) {
	list := s[v.Digest]
	if list == nil && len(s) >= maxAnswers || slices.ContainsFunc(list, func(r storage.Ref) bool { return r.URLID == v.URLID }) {
		return nil
	}
	if len(list) > revisit.MaxSame {
		return []storage.Ref{v.Ref()}
	}
	list = append(list, v.Ref())
	s[v.Digest] = list
	if len(list) > revisit.MaxSame {
		return list
	}
	return nil
}

// maxAnswers bounds the digests that are remembered.
const maxAnswers = 1 << 17

// sameAnswer marks the visits of a round that brought one answer for several
// pages.
func (c *Crawl) sameAnswer(o *outcome) error {
	if o.Visit == nil || o.job == nil || o.job.Good == nil || !mayBeSame(o.Visit) || o.Visit.Digest == o.job.Good.Digest {
		return nil
	}
	for _, ref := range c.committer.answers.add(o.Visit) {
		if err := c.archive.Amend(ref, func(v *storage.Visit) { v.Suspect = revisit.SameBody }); err != nil {
			return err
		}
	}
	return nil
}

// mayBeSame says whether a visit brought a page that can be compared with others.
func mayBeSame(v *storage.Visit) bool {
	return v.HasBody() && v.Status >= 200 && v.Status <= 299 && v.Suspect == "" && v.Truncated == "" && v.Length > 0
}

// recallAnswers is what sameAnswers knew when a round was stopped.
func (c *Crawl) recallAnswers() error {
	return c.eachHistory(func(visits []*storage.Visit) error {
		for i, v := range visits {
			if v.At.Before(c.ledger.state.Round.Began) || !mayBeSame(v) {
				continue
			}
			if good := revisit.Good(visits[:i]); good != nil && good.Digest != v.Digest {
				c.committer.answers.add(v)
			}
		}
		return nil
	})
}

// lastMods is what the sitemaps that are kept say of each page's last change, by
// the digest of its URL.
func (c *Crawl) lastMods() map[warc.Digest]time.Time {
	dates := map[warc.Digest]time.Time{}
	_ = c.eachHistory(func(visits []*storage.Visit) error { // the plan meets an error again
		if good := revisit.Good(visits); good != nil && good.Class == frontier.Sitemap.String() {
			revisit.LastMods(c.archive, good, visit.MaxSitemap, func(u weburl.URL, at time.Time) {
				key := warc.Sum([]byte(u.String()))
				dates[key] = later(dates[key], at)
			})
		}
		return nil
	})
	return dates
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// eachHistory calls visit with the visits of each URL, the oldest first.
func (c *Crawl) eachHistory(visit func([]*storage.Visit) error) error {
	for visits, err := range c.archive.Histories() {
		if err != nil {
			return err
		}
		if err := visit(visits); err != nil {
			return err
		}
	}
	return nil
}
