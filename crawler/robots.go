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

// robotsState is the state of fetching an origin's robots.txt.
type robotsState struct {
	entry  *frontier.Entry
	done   bool // the entry is finished: a further fetch is a refetch
	busy   bool
	url    weburl.URL // where the redirects have led so far
	hops   int
	visits int  // visits of this URL in the archive
	tries  int  // consecutive failures
	away   bool // the last failure was that no connection was made
	due    time.Time
	good   time.Time // when it was last available
}

// maxRobotsTries is how often a robots.txt is tried without a usable copy before the crawl gives up.
// maxRobotsGone is how long it may be unavailable before everything is allowed (RFC 9309 §2.3.1.4).
const (
	maxRobotsTries = 3
	maxRobotsGone  = 30 * 24 * time.Hour
)

// robotsHad handles the response to a request for robots.txt; the loop calls it. refused is why the
// rules are unavailable, if none are in force.
func (c *Crawl) robotsHad(o *origin, r *robotstxt.Answer, now time.Time) (refused string) {
	s := &o.robots
	s.busy = false
	s.visits++
	if !r.Hop.IsZero() {
		s.url = r.Hop
		s.hops++
		s.due = now
		if c.opts.FollowSeed && o.name == c.opts.Seed.Origin() {
			c.client.Allow(r.Hop.Hostname()) // most likely the seed redirects there too
		}
		return ""
	}
	s.url, s.hops = robotstxt.URL(o.name), 0
	if r.Failed != "" {
		return c.robotsFailed(o, r, now)
	}
	s.tries, s.away, s.done = 0, false, true
	// A duration, not Expires itself: the clock may have been set.
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

// robotsFailed keeps the last good copy in force, schedules a retry, or gives up.
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

// opening reports whether o is the site's main origin at the start of a round, before any response. Its
// robots.txt comes first; if the site is unreachable, the round ends and can be started again.
func (c *Crawl) opening(o *origin) bool {
	return c.opts.Round != nil && c.isMain(o) && c.ledger.answers() == c.ledger.had
}

// neverReached reports that no connection was made and none ever was in this crawl: most likely a name,
// port or scheme is mistyped, and the user is waiting for the error.
func (c *Crawl) neverReached(r *robotstxt.Answer) bool {
	return unreachable(r.Err) && c.ledger.answers() == 0
}

// robotsVisit makes the job that requests a robots.txt.
func (c *Crawl) robotsVisit(o *origin) *job {
	s := &o.robots
	j := &job{origin: o, Attempt: visit.Attempt{Entry: s.entry, URL: s.url, N: s.visits + 1, Refetch: s.done,
		Robots: &robotstxt.Request{Origin: o.name, Hops: s.hops, Had: o.from}}}
	if o.rules != nil && s.hops == 0 && o.from.Digest != "" && (o.from.ETag != "" || o.from.LastMod != "") {
		j.Condition(c.original(s.entry), o.from.ETag, o.from.LastMod)
	}
	return j
}

// original returns the response with the last copy of a robots.txt; nil if it is not archived.
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
