package crawler

import (
	"fmt"
	"slices"
	"time"

	"curtsy/crawler/robotstxt"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage/crawllog"
)

// robotsState is the fetching of a robots.txt.
type robotsState struct {
	entry  *frontier.Entry
	done   bool // the entry is finished: a fetch is one more visit
	busy   bool
	url    weburl.URL // where the redirects led
	hops   int
	visits int  // of this URL, in the archive
	tries  int  // failures in a row
	away   bool // the last of them was no connection
	due    time.Time
	good   time.Time // last had
}

// Tries for a robots.txt that no good copy stands in for, before the crawl
// gives up, and how long a failing one is not taken as absent (RFC 9309 §2.3.1.4).
const (
	maxRobotsTries = 3
	maxRobotsGone  = 30 * 24 * time.Hour
)

// robotsHad takes in the answer (the loop's side). refused is not empty when
// the rules are unavailable, and none are in force.
func (c *Crawl) robotsHad(o *origin, r *robotstxt.Answer, now time.Time) (refused string) {
	s := &o.robots
	s.busy = false
	s.visits++
	if !r.Hop.IsZero() {
		s.url = r.Hop
		s.hops++
		s.due = now
		if c.opts.FollowSeed && o.name == c.opts.Seed.Origin() {
			c.client.Allow(r.Hop.Hostname()) // the seed leads there, most likely
		}
		return ""
	}
	s.url, s.hops = robotstxt.URL(o.name), 0
	if r.Failed != "" {
		return c.robotsFailed(o, r, now)
	}
	s.tries, s.away, s.done = 0, false, true
	// By what has passed since now, whoever sets the clock.
	s.good, s.due = now, now.Add(r.Version.Expires.Sub(r.Version.At))
	if r.Same {
		o.from.Expires = r.Version.Expires
		return ""
	}
	if r.Version.Cut {
		c.opts.Logger.Warn("robots.txt is over 500 KiB: the rules behind that are not read", "origin", o.name)
	}
	if o.rules == nil && o.name == c.opts.Seed.Origin() {
		c.opts.Tell(o.name + "/robots.txt " + r.Summary())
	}
	c.enforce(o, r.Rules, r.Version)
	return ""
}

// robotsFailed keeps the last good copy in force, or waits, or gives up.
func (c *Crawl) robotsFailed(o *origin, r *robotstxt.Answer, now time.Time) (refused string) {
	s, why := &o.robots, r.Failed
	s.tries++
	s.away = unreachable(r.Err)
	pause, most := min(c.opts.RetryBase<<min(s.tries-1, 10), time.Hour), maxRobotsTries
	if c.neverReached(r) {
		pause, most = min(pause, time.Second), 2
	}
	s.due = now.Add(pause)
	if r.Lasting && o.rules == nil {
		return fmt.Sprintf("%s/robots.txt: %s", o.name, why)
	}
	if (o.rules == nil || s.away && c.opening(o)) && s.tries >= most {
		return fmt.Sprintf("%s/robots.txt: %s (tried %d times)", o.name, why, s.tries)
	}
	c.opts.Tell(fmt.Sprintf("%s/robots.txt is unavailable: %s; retrying in %v", o.name, why, pause))
	if o.rules != nil && !s.good.IsZero() && now.Sub(s.good) > maxRobotsGone {
		c.enforce(o, rules.AllowAll("robots.txt was unavailable for 30 days"), o.from)
	}
	return ""
}

// opening says whether this is the site at the start of a round, before anything is
// answered: its robots.txt comes first, and if the site is away the round ends, for
// whoever runs it to try again.
func (c *Crawl) opening(o *origin) bool {
	return c.opts.Round != nil && c.isMain(o) && c.ledger.answers() == c.ledger.had
}

// neverReached says that nothing answers, and nothing ever did: most likely a
// name, a port or a scheme is mistyped, and a person is waiting to be told.
func (c *Crawl) neverReached(r *robotstxt.Answer) bool {
	return unreachable(r.Err) && c.ledger.answers() == 0
}

// robotsVisit is the job of asking for a robots.txt.
func (c *Crawl) robotsVisit(o *origin) *job {
	s := &o.robots
	j := &job{origin: o, Attempt: visit.Attempt{Entry: s.entry, URL: s.url, N: s.visits + 1, Refetch: s.done,
		Robots: &robotstxt.Request{Origin: o.name, Hops: s.hops, Had: o.from}}}
	if o.rules != nil && s.hops == 0 && o.from.Digest != "" && (o.from.ETag != "" || o.from.LastMod != "") {
		j.Condition(c.original(s.entry), o.from.ETag, o.from.LastMod)
	}
	return j
}

// original is the response that the last copy of a robots.txt came in; nil
// if it is not held.
func (c *Crawl) original(e *frontier.Entry) *crawllog.Visit {
	visits, err := c.archive.VisitsOf(e.ID)
	if err != nil {
		return nil
	}
	for _, v := range slices.Backward(visits) {
		if v.Status != 200 {
			continue
		}
		if v.Refers != nil {
			v, err = c.archive.Visit(*v.Refers)
		}
		if err != nil || v == nil || v.Kept != crawllog.KeptResponse {
			return nil
		}
		return v
	}
	return nil
}
