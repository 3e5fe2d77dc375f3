package crawler

import (
	"errors"
	"fmt"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// origin is the state of one origin. The loop owns it. Origins at the same host share a pace.
type origin struct {
	name    string // "scheme://host[:port]"
	ours    bool   // part of the site, as opposed to a host of sitemaps or requisites
	pace    *pace
	rules   *rules.Robots          // rules in force; nil before the first robots.txt
	from    crawllog.RobotsVersion // the robots.txt that the rules are from
	robots  robotsState
	next    *frontier.Entry    // the next entry from the frontier, waiting for its time
	judged  *crawllog.Decision // the robots.txt decision on next
	verdict judge.Verdict      // the verdict of the whole chain on next
	by      *rules.Robots      // the rules by which next was judged
	ended   time.Time          // end of the last download
	gone    bool               // given up, with everything queued for it
	first   int                // visits that others wait for (goesFirst), not yet committed

	// Position in the schedule.
	lane *lane // nil: not scheduled
	turn uint64
	due  time.Time
	why  string
}

// origin returns the state of an origin for which URLs are queued, creating it if necessary.
func (c *Crawl) origin(name string, now time.Time) (*origin, error) {
	s := c.schedule
	if o := s.origins[name]; o != nil {
		o.ours = c.ours(o)
		return o, nil
	}
	o := &origin{name: name}
	o.ours = c.ours(o)
	if err := c.recall(o, now); err != nil {
		return nil, err
	}
	s.origins[name] = o
	s.list = append(s.list, o)
	return o, nil
}

// recall loads the robots.txt entry of an origin and the rules last read. If this run discovered the
// origin, its robots.txt is the first entry of its queue.
func (c *Crawl) recall(o *origin, now time.Time) (err error) {
	if o.pace, err = c.pace(robotstxt.URL(o.name)); err != nil {
		return err
	}
	o.pace.waits(o)
	s := &o.robots
	s.url = robotstxt.URL(o.name)
	f, known := c.earlier[o.name]
	if !known {
		s.entry, err = c.frontier.Next(o.name, now)
		if err == nil && (s.entry == nil || s.entry.URL != s.url) {
			err = &storage.DamageError{File: "crawl.db", What: "no robots.txt entry for " + o.name}
		}
		return err
	}
	s.entry, s.done = &f.Entry, f.State != frontier.StateQueued
	s.visits = c.archive.LastN(s.entry.ID)
	r, from, err := robotstxt.InForce(c.archive, o.name, c.opts.Rules)
	o.from = from
	if r == nil || !s.done {
		return err
	}
	s.good, s.due = o.from.At, o.from.Expires
	if c.ledger.askRobots {
		s.due = time.Time{}
	}
	c.enforce(o, r, o.from)
	return nil
}

// ours reports whether an origin is part of the site, or may prove to be.
func (c *Crawl) ours(o *origin) bool {
	s, u := c.reader.Scope(), robotstxt.URL(o.name)
	return s.Holds(u) || s.Sibling(u)
}

// isMain reports whether the crawl depends on an origin: it is part of the site, and its pages are not
// fetched under another name.
func (c *Crawl) isMain(o *origin) bool {
	s := c.reader.Scope()
	return s.Main(robotstxt.URL(o.name)) && (s.Primary == "" || s.Primary == o.name)
}

// hasWork reports whether URLs are queued for an origin.
func (c *Crawl) hasWork(o *origin) bool {
	_, ok := c.frontier.Waiting(o.name)
	return ok
}

// enforce applies rules from the next request on.
func (c *Crawl) enforce(o *origin, r *rules.Robots, from crawllog.RobotsVersion) {
	o.rules, o.from = r, from
	if o.ours {
		c.reader.Enforce(o.name, r)
	}
	o.pace.Obey(o.name, r.Pace())
}

// gate returns the robots.txt decision on e (step 2). robots.txt itself is always allowed (RFC 9309
// §2.2.2).
func (o *origin) gate(e *frontier.Entry) crawllog.Decision {
	return robotstxt.Decide(o.rules, &o.from, e.URL)
}

// withoutRules handles an unavailable robots.txt: it ends the run if the origin is the site's main
// one, else it gives the origin up.
func (c *Crawl) withoutRules(o *origin, r *robotstxt.Answer, why string) {
	if c.isMain(o) {
		u := robotstxt.URL(o.name)
		if err := CannotReach(u, r.Err); err != nil && c.ledger.answers() == c.ledger.had &&
			(c.ledger.had == 0 || c.opening(o)) {
			c.run.endWith(Result{Ending: Unreachable, Why: err.Error(), Err: err})
		}
		c.run.endWith(Result{Ending: Refused, Why: why, Err: r.Err})
		return
	}
	c.giveUp(o, why)
}

// UnreachableError reports that a host cannot be reached: no connection was made, or each was closed
// before the first byte of a response.
type UnreachableError struct {
	URL weburl.URL
	Err error // from package fetch
}

// Error reads "cannot reach example.org: no such host".
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("cannot reach %s: %s", e.URL.Host(), fetch.Cause(e.Err))
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// CannotReach returns an UnreachableError, or nil if err is of another kind.
func CannotReach(u weburl.URL, err error) error {
	if !unreachable(err) {
		return nil
	}
	return &UnreachableError{u, err}
}

// unreachable reports whether no connection was made, or it was closed before the first byte of a
// response, as a TLS server may do to plain HTTP. A timeout after the request is not unreachable;
// the robots.txt is then unavailable.
func unreachable(err error) bool {
	switch fetch.KindOf(err) {
	case fetch.KindDNS, fetch.KindRefused, fetch.KindConnect, fetch.KindTLS:
		return true
	}
	return errors.Is(err, fetch.ErrNoAnswer)
}

// gaveUp handles a host that fails repeatedly: it ends the run or gives the origin up.
func (c *Crawl) gaveUp(o *origin, why string) {
	if c.isMain(o) {
		c.run.end(Stopped, why)
		return
	}
	c.giveUp(o, "giving up on "+o.name+": "+why)
}

// giveUp stops all requests to an origin and finishes its robots.txt entry. Its crawl delay stays in
// force, as another origin at that host may share the pace.
func (c *Crawl) giveUp(o *origin, why string) {
	o.gone, o.rules = true, rules.DenyAll("unavailable: "+why)
	if o.robots.done {
		return
	}
	o.robots.done = true
	state := frontier.StateFailed
	if c.reader.Scope().Sibling(o.robots.entry.URL) { // it is unknown whether it is part of the site
		state = frontier.StateDisregarded
	}
	c.dismiss(&visit.Outcome{Entry: o.robots.entry, State: state, Reason: visit.Because(judge.NoRobots, why)})
}
