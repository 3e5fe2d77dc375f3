package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/revisit"
	"curtsy/crawler/robotstxt"
	"curtsy/crawler/status"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// ErrSeed reports that the archive holds the crawl of another seed.
var ErrSeed = errors.New("the archive holds another crawl")

// Crawl is one run over one archive. Only the goroutine that calls Run may use it. Close
// closes the archive.
type Crawl struct {
	opts     Options
	archive  *storage.Archive
	frontier *frontier.Frontier
	client   *fetch.Client

	// Used by the loop only.
	schedule *schedule
	run      run
	earlier  map[string]frontier.Found // the robots.txt URLs of earlier runs, by origin

	// Used by several goroutines.
	reader *visit.Reader
	flight *flight
	ledger ledger
	crew   *crew

	committer committer
	tabs      tabs
}

// Open opens the archive in dir, or creates one, for a crawl of o.Seed. An existing archive
// continues where it stopped; its seed must be the same, else the error is ErrSeed.
func Open(dir string, o Options) (*Crawl, error) {
	o = o.WithDefaults()
	o.Archive.Crawl = SegmentInfo{o.Seed.String(), o.Public}
	a, err := storage.Open(dir, o.Archive)
	if err != nil {
		return nil, err
	}
	c, err := begin(a, o)
	if err != nil {
		a.Close()
		return nil, err
	}
	return c, nil
}

// begin continues the crawl that the archive holds, or plants a new one.
func begin(a *storage.Archive, o Options) (c *Crawl, err error) {
	defer storage.Guard(&err)()
	f, err := a.Frontier()
	if err != nil {
		return nil, err
	}
	c = &Crawl{opts: o, archive: a, frontier: f, schedule: newSchedule(&o), flight: newFlight(&o), crew: newCrew()}
	f.WaitAtMost(o.longestRetry())
	c.committer.planted, c.committer.answers = map[string]bool{}, revisit.Answers{}
	c.ledger.began = c.now()
	known, err := c.readState()
	if err != nil {
		return nil, err
	}
	c.equip()
	if known {
		return c, c.proceed()
	}
	if o.Round != nil {
		return nil, fmt.Errorf("%s: %w", a.Dir(), storage.ErrNone)
	}
	c.ledger.state.Seed, c.ledger.state.Began = o.Seed.String(), c.now().UTC()
	return c, c.plant()
}

// readState reads the state of earlier runs; known is false if there were none.
func (c *Crawl) readState() (known bool, err error) {
	st := &c.ledger.state
	if known, err = c.archive.Crawl(st); err != nil {
		return known, err
	}
	if known != (c.frontier.Counts().Discovered > 0) {
		return known, &storage.DamageError{File: "crawl.db", What: "the crawl's own entry, or the frontier, is missing"}
	}
	if st.Round != nil && st.Round.N != len(st.Rounds) {
		return known, &storage.DamageError{File: "crawl.db", What: "when the rounds began is missing"}
	}
	if known && st.Seed != c.opts.Seed.String() {
		return known, fmt.Errorf("%w: of %s, not of %s", ErrSeed, st.Seed, c.opts.Seed)
	}
	c.ledger.killed = known && st.Ended == ""
	c.ledger.askRobots = st.AskRobots
	c.ledger.had = c.ledger.answers()
	st.Settings = c.opts.Settings
	st.Ended, st.Ending = "", "" // AskRobots stays true until robots.txt has been answered, even after a kill
	return known, nil
}

// equip makes the reader and the client, with what earlier runs found out about the site.
func (c *Crawl) equip() {
	o, st := c.opts, &c.ledger.state
	if st.Session != nil && o.session != nil {
		o.session.Recall(*st.Session)
	}
	settings := o.Judging()
	for _, origin := range st.Origins {
		settings = settings.With(judge.Names{Alias: origin})
	}
	settings = settings.With(judge.Names{Primary: st.Primary})
	o.apart = st.Apart
	c.reader = visit.NewReader(c.archive, c.frontier, o.Visiting(settings, c.ledger.admitted))
	c.frontier.Judge(settings)
	if o.Fetch.Spill == nil {
		o.Fetch.Spill = func() (fetch.File, error) { return c.archive.Spill() }
	}
	if o.Gate != nil {
		o.Fetch.Gate = o.Gate
	}
	c.tabs.open(&o)
	c.client = fetch.New(o.Fetch)
	c.client.Allow(o.allowed(settings.Origins)...)
}

// proceed queues what the settings of this run add to an existing crawl, and begins its round.
func (c *Crawl) proceed() error {
	finished := c.ledger.state.Finished // before newly allowed URLs are queued: a round fetches those too
	if err := c.reconsider(); err != nil {
		return err
	}
	if c.plantGiven() {
		c.ledger.state.Finished = false
		if err := c.commitFrontier(); err != nil {
			return err
		}
	}
	if err := c.beginRound(finished); err != nil {
		return err
	}
	return c.recollect()
}

// recollect lists the robots.txt URLs that earlier runs discovered.
func (c *Crawl) recollect() error {
	c.earlier = map[string]frontier.Found{}
	return c.frontier.Each(frontier.Prerequisite, func(f frontier.Found) error {
		if f.URL.Target() == rules.Location {
			c.earlier[f.URL.Origin()] = f
		}
		return nil
	})
}

// plant fills a new frontier: the seed's robots.txt, the seed, and what Options.Given names.
func (c *Crawl) plant() error {
	c.frontier.Add(robotstxt.Link(c.opts.Seed.Origin(), 0))
	c.frontier.Add(frontier.Link{URL: c.opts.Seed, Class: frontier.Page, How: judge.HowSeed})
	c.plantGiven()
	return c.commitFrontier()
}

// commitFrontier commits the URLs that were added and requeues those in again.
func (c *Crawl) commitFrontier(again ...frontier.Found) error {
	for _, f := range again {
		c.frontier.Requeue(f.ID, f.Attempts)
	}
	return c.archive.Commit(c.State())
}

// reconsider queues the URLs that scope or trap rules excluded in earlier runs and that the
// present settings admit.
func (c *Crawl) reconsider() error {
	again, err := c.heldBack(frontier.Disregarded)
	if err != nil {
		return err
	}
	n := 0
	for _, found := range again {
		if c.requeue(found) {
			n++
		}
	}
	var queued []frontier.Found
	if c.ledger.state.Narrowed {
		if queued, err = c.heldBack(frontier.Page, frontier.Requisite); err != nil {
			return err
		}
		for i := range queued { // one that was excluded by its response head has a visit
			queued[i].Attempts = c.archive.LastN(queued[i].ID)
		}
	}
	if n += len(queued); n == 0 {
		return nil
	}
	c.opts.Tell("the new settings allow " + legible.Count(n, "URL") + " skipped before")
	c.ledger.state.Finished = false
	return c.commitFrontier(queued...)
}

// heldBack lists the URLs of the given classes that a setting excluded and the present
// settings would admit.
func (c *Crawl) heldBack(classes ...frontier.Class) (again []frontier.Found, err error) {
	facts := c.reader.Facts()
	for _, class := range classes {
		err = c.frontier.Each(class, func(f frontier.Found) error {
			if f.State != frontier.StateDisregarded || f.URL.Target() == rules.Location {
				return nil // robots.txt is queued with the first URL of its host
			}
			l := f.Link
			l.Admit()
			l.Reason = f.Reason
			if judge.Again(&l, facts) {
				again = append(again, f)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return again, nil
}

// now reads the crawl's clock.
func (c *Crawl) now() time.Time { return c.opts.Now() }

// Finished reports whether the crawl is complete and the frontier has no URLs left.
func (c *Crawl) Finished() bool { return c.ledger.state.Finished && len(c.frontier.Origins()) == 0 }

// State returns the state of the crawl as it is stored in the archive.
func (c *Crawl) State() status.State {
	s := c.ledger.snapshot(c.now())
	s.Origins, s.Primary = c.reader.Scope().Origins, c.reader.Scope().Primary
	if found := c.opts.Session(); found != nil {
		s.Session = found
	}
	return s
}

// Counts returns the frontier's totals.
func (c *Crawl) Counts() frontier.Counts { return c.frontier.Counts() }

// Close closes the archive. Visits in flight are dropped.
func (c *Crawl) Close() error {
	c.tabs.close()
	c.client.Close()
	return c.archive.Close()
}

// Run crawls until no URL is left, a limit is reached, an error stops it, or stop is done. Then
// it finishes and commits the visits in flight; when ctx is done, it drops them instead. It
// returns when all its goroutines have ended. Committed visits are never lost.
func (c *Crawl) Run(ctx, stop context.Context) (Result, error) {
	committed := make(chan struct{})
	go func() {
		defer close(committed)
		c.commitLoop(ctx)
	}()
	result, err := c.guarded(ctx, stop)
	if err != nil {
		c.ledger.fail(err)
	}
	c.crew.dismissed()
	<-committed
	if err := damaged(c.ledger.failure()); err != nil {
		if !storage.IsDisk(err) {
			return result, err
		}
		result.Ending, result.Why, result.Err = DiskFull, err.Error(), err
	}
	return c.finish(result)
}

// guarded runs the loop and returns a panic caused by a damaged crawl.db as an error.
func (c *Crawl) guarded(ctx, stop context.Context) (r Result, err error) {
	defer storage.Guard(&err)()
	return c.loop(ctx, stop), nil
}

// finish records how the run ended.
func (c *Crawl) finish(r Result) (Result, error) {
	if st := c.State(); st.Holds == nil || st.Round != nil {
		if err := st.CountHeld(c.archive); err != nil {
			return r, err
		}
		c.ledger.change(func(s *status.State) { s.Holds = st.Holds })
	}
	var find crawllog.Lookup
	if c.earlier != nil { // there were earlier runs
		find = c.archive.VisitsAt
	}
	if c.ledger.killed {
		if err := c.committer.circles.Recall(c.archive.Histories()); err != nil {
			return r, err
		}
	}
	c.committer.circles.Resolve(c.frontier, find)
	c.frontier.DropOverruled()
	c.ledger.end(r, c.now(), c.schedule.paces)
	if err := c.commitFrontier(); err != nil && r.Ending != DiskFull {
		if !storage.IsDisk(err) {
			return r, err
		}
		r.Ending, r.Why, r.Err = DiskFull, err.Error(), err
	}
	r.State, r.Counts = c.State(), c.frontier.Counts()
	c.publish(c.status(c.now(), r.Ending.String()))
	return r, nil
}

// String returns the ending as the status command names it.
func (e Ending) String() string {
	return [...]string{"finished", "limited", "stopped", "refused", "unreachable", "stopped"}[e]
}

// damaged turns a frontier.ErrCorrupt into a DamageError; other errors are returned as they are.
func damaged(err error) error {
	if errors.Is(err, frontier.ErrCorrupt) {
		return &storage.DamageError{File: "crawl.db", What: err.Error()}
	}
	return err
}
