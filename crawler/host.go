package crawler

import (
	"fmt"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/warc"
)

// host is the state of one origin; the loop owns it. Origins at the same
// host name share a pace.
type host struct {
	origin string
	pace   *pace
	rules  *rules.Robots         // in force; nil before the first robots.txt
	from   storage.RobotsVersion // where rules come from
	robots robotsState
	next   *frontier.Entry // taken from the frontier, waiting for its time
	judged *storage.Decision
	by     *rules.Robots // the rules that judged next
	ended  time.Time     // of the last download
	gone   bool          // given up, and with it what is queued for it

	listings atomic.Int64 // visits to its robots.txt and sitemaps not yet committed
}

// robotsState is the fetching of a robots.txt.
type robotsState struct {
	entry  *frontier.Entry
	done   bool // the entry is finished: a fetch is one more visit
	busy   bool
	url    weburl.URL // where the redirects led
	hops   int
	visits int // of this URL, in the archive
	tries  int // failures in a row
	due    time.Time
	good   time.Time // last had
}

// Redirects of robots.txt that are followed (RFC 9309 §2.3.1.2).
const maxRobotsHops = 5

// Tries for a robots.txt that no good copy stands in for, before the crawl
// gives up, and how long a failing one is not taken as absent (RFC 9309 §2.3.1.4).
const (
	maxRobotsTries = 3
	maxRobotsGone  = 30 * 24 * time.Hour
)

// host finds or makes the state of an origin.
func (c *Crawl) host(origin string) (*host, error) {
	for _, h := range c.hosts {
		if h.origin == origin {
			return h, nil
		}
	}
	u := robotsURL(origin)
	p, err := c.pace(u)
	if err != nil {
		return nil, err
	}
	h := &host{origin: origin, pace: p}
	if err := c.recall(h, u); err != nil {
		return nil, err
	}
	c.hosts = append(c.hosts, h)
	return h, nil
}

// recall finds the robots.txt entry of an origin and the rules last read.
func (c *Crawl) recall(h *host, u weburl.URL) error {
	h.robots.url = u
	found, err := c.frontier.Find(u)
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.Class == frontier.Prerequisite {
			e := f.Entry
			h.robots.entry, h.robots.done = &e, f.State != frontier.StateQueued
		}
	}
	if h.robots.entry == nil {
		return &storage.DamageError{File: "crawl.db", What: "no robots.txt entry for " + h.origin}
	}
	visits, err := c.archive.VisitsOf(h.robots.entry.ID)
	if err != nil {
		return err
	}
	if n := len(visits); n > 0 {
		h.robots.visits = visits[n-1].N
	}
	r, from, err := lastRules(c.archive, h.origin, c.opts.Rules)
	h.from = from
	if r == nil || !h.robots.done {
		return err
	}
	h.robots.good, h.robots.due = h.from.At, h.from.Expires
	if c.askRobots {
		h.robots.due = time.Time{}
	}
	c.enforce(h, r, h.from)
	return nil
}

// lastRules are those last read of an origin's robots.txt; nil if none were.
func lastRules(a *storage.Archive, origin string, o rules.Options) (r *rules.Robots, from storage.RobotsVersion, err error) {
	v, err := a.RobotsInForce(origin, time.Time{})
	if v == nil || err != nil {
		return nil, from, err
	}
	body, err := a.RobotsBody(v)
	if err != nil {
		return nil, *v, err
	}
	return readRules(*v, body, o), *v, nil
}

// readRules makes rules of a version again.
func readRules(v storage.RobotsVersion, body []byte, o rules.Options) *rules.Robots {
	if v.Error != "" {
		return rules.AllowAll(v.Error)
	}
	switch rules.ResponseAccess(v.Status, v.Type, o) {
	case rules.Parsed:
		return rules.Parse(body, o)
	case rules.Absent:
		return rules.AllowAll(fmt.Sprintf("robots.txt answered %d", v.Status))
	}
	return rules.DenyAll(fmt.Sprintf("robots.txt answered %d", v.Status))
}

// enforce puts rules in force from the next request on.
func (c *Crawl) enforce(h *host, r *rules.Robots, from storage.RobotsVersion) {
	h.rules, h.from = r, from
	if c.ours(h) {
		all := map[string]*rules.Robots{h.origin: r}
		if had := c.inForce.Load(); had != nil {
			all = maps.Clone(*had)
			all[h.origin] = r
		}
		c.inForce.Store(&all)
	}
	h.pace.obey(h.origin, paceRules(r))
}

// shut lets nothing more be asked of an origin. The pace it asked for holds
// on, since another origin at that host may share it.
func (h *host) shut(why string) { h.rules = rules.DenyAll(why) }

// paceRules are what robots.txt says about time.
func paceRules(r *rules.Robots) politeness.Rules {
	var p politeness.Rules
	if d, line, ok := r.CrawlDelay(); ok {
		p.CrawlDelay, p.DelayLine = d, line
	}
	if rate, ok := r.RequestRate(); ok {
		p.Requests, p.Per, p.RateLine = rate.Requests, rate.Per, rate.Line
	}
	if v, ok := r.VisitTime(); ok {
		p.Visit, p.VisitLine = v, v.Line
	}
	return p
}

// needsRobots says whether robots.txt is to be fetched before anything else.
func (h *host) needsRobots(now time.Time) bool {
	return !h.robots.busy && (h.rules == nil || !now.Before(h.robots.due)) && !now.Before(h.robots.due)
}

// gate is the verdict of the rules in force (step 2). robots.txt itself is
// always allowed (RFC 9309 §2.2.2).
func (h *host) gate(e *frontier.Entry) storage.Decision {
	v := h.rules.Verdict(e.URL.Target())
	return storage.Decision{Allow: v.Allow, Line: v.Line, Rule: v.Rule, Group: v.Group, Differs: v.Difference.String(),
		Version: h.from.Short(), Fetched: h.from.At}
}

// denial is the reason of a URL that robots.txt denies.
func denial(d storage.Decision) string {
	if d.Line == 0 {
		return "robots.txt: " + d.Rule
	}
	return fmt.Sprintf("robots.txt: line %d: %s", d.Line, d.Rule)
}

// robotsFetch is what came of one request for a robots.txt.
type robotsFetch struct {
	host    *host
	version storage.RobotsVersion
	body    []byte
	rules   *rules.Robots
	hop     weburl.URL // not zero: ask there
	same    bool       // 304: what we have holds on
	failed  string     // why it cannot be had for now
	blocked bool       // and never can: its address is not to be dialled
}

// readRobots reads the answer to a request for robots.txt (rules.md §1.14).
func (c *Crawl) readRobots(j *job, x *fetch.Exchange) *robotsFetch {
	r := &robotsFetch{host: j.robots.host}
	v := &r.version
	*v = storage.RobotsVersion{Origin: r.host.origin, At: x.Start.UTC(), Status: x.Status}
	v.Expires = v.At.Add(c.robotsAge(x.Header))
	switch {
	case x.Err != nil:
		r.failed, r.blocked = x.Err.Error(), kindOf(x.Err) == fetch.KindBlocked
		v.Error = r.failed
	case x.Truncated == "disconnect" || x.Truncated == "time":
		r.failed = "cut off by the server"
		v.Error = r.failed
	case x.Status == 304 && j.conditional:
		r.same = true
		*v = j.robots.had
		v.At, v.Expires = x.Start.UTC(), x.Start.UTC().Add(c.robotsAge(x.Header))
	case x.Status >= 300 && x.Status < 400 && x.Status != 304:
		r.follow(j, x, c.opts.Rules)
	default:
		r.parse(x, c.opts.Rules)
	}
	v.Used = r.failed == "" && r.hop.IsZero()
	return r
}

func (r *robotsFetch) follow(j *job, x *fetch.Exchange, o rules.Options) {
	target, err := j.url.Resolve(x.Header.Get("Location"))
	switch {
	case o.Dialect == rules.Yandex: // whatever is not 200 allows all
		r.parse(x, o)
	case err != nil || x.Header.Get("Location") == "":
		r.absent(fmt.Sprintf("robots.txt answered %d without a usable Location", x.Status))
	case j.robots.hops >= maxRobotsHops:
		r.absent("robots.txt redirects more than 5 times")
	default:
		r.hop = target
	}
}

func (r *robotsFetch) absent(why string) {
	r.version.Error = why
	r.rules = rules.AllowAll(why)
}

// maxRobotsBody is what is read of a robots.txt: what counts of it (500 KiB,
// RFC 9309 §2.5) and enough to see that there is more.
const maxRobotsBody = 600 << 10

func (r *robotsFetch) parse(x *fetch.Exchange, o rules.Options) {
	v := &r.version
	v.Type = bounded(x.Header.Get("Content-Type"), 200)
	v.ETag, v.LastMod = bounded(x.Header.Get("ETag"), 300), bounded(x.Header.Get("Last-Modified"), 100)
	if rules.ResponseAccess(x.Status, v.Type, o) == rules.Refused {
		r.failed = fmt.Sprintf("answered %d", x.Status)
		return
	}
	if rules.ResponseAccess(x.Status, v.Type, o) == rules.Parsed {
		body, _, err := x.Decoded(maxRobotsBody)
		if err != nil && (x.Truncated == "" || len(body) == 0) { // what we cut ourselves ends badly
			r.failed = err.Error()
			v.Error = r.failed
			return
		}
		r.body = append([]byte{}, body...)
		v.Digest = warc.Sum(r.body).String()
	}
	r.rules = readRules(*v, r.body, o)
}

// robotsAge is how long a robots.txt holds: a day at most, if neither the
// settings nor the dialect of 1994 say otherwise, and sooner if
// Cache-Control says so (RFC 9309 §2.4), but a minute at least.
func (c *Crawl) robotsAge(h http.Header) time.Duration {
	age := c.opts.MaxRobotsAge
	if max, ok := maxAge(h); ok && max < age {
		age = max
	}
	return max(age, min(time.Minute, c.opts.MaxRobotsAge))
}

// robotsHad takes in the answer (the loop's side). refused is not empty when
// the rules cannot be had, and none are in force.
func (c *Crawl) robotsHad(r *robotsFetch, now time.Time) (refused string) {
	h := r.host
	s := &h.robots
	s.busy = false
	s.visits++
	if !r.hop.IsZero() {
		s.url = r.hop
		s.hops++
		s.due = now
		return ""
	}
	s.url, s.hops = robotsURL(h.origin), 0
	if r.failed != "" {
		return c.robotsFailed(r, now)
	}
	s.tries, s.done = 0, true
	s.good, s.due = now, r.version.Expires
	if r.same {
		h.from.Expires = r.version.Expires
		return ""
	}
	c.enforce(h, r.rules, r.version)
	return ""
}

// robotsFailed keeps the last good copy in force, or waits, or gives up.
func (c *Crawl) robotsFailed(r *robotsFetch, now time.Time) (refused string) {
	h, why := r.host, r.failed
	s := &h.robots
	s.tries++
	s.due = now.Add(min(c.opts.RetryBase<<min(s.tries-1, 10), time.Hour))
	if r.blocked && h.rules == nil {
		return fmt.Sprintf("%s/robots.txt: %s", h.origin, why)
	}
	c.opts.Logger.Warn("robots.txt cannot be had", "origin", h.origin, "why", why, "again", s.due.Sub(now))
	if h.rules != nil {
		if !s.good.IsZero() && now.Sub(s.good) > maxRobotsGone {
			c.enforce(h, rules.AllowAll("robots.txt was unavailable for 30 days"), h.from)
		}
		return ""
	}
	if s.tries < maxRobotsTries {
		return ""
	}
	return fmt.Sprintf("%s/robots.txt: %s (tried %d times)", h.origin, why, s.tries)
}

// withoutRules ends what cannot be crawled since robots.txt cannot be had:
// the crawl, if it is of the site, else what is queued for that host.
func (c *Crawl) withoutRules(h *host, why string) {
	if c.ours(h) {
		c.end(Refused, why)
		return
	}
	h.gone = true
	h.shut("cannot be had: " + why)
	c.endRobots(h)
}

// gaveUp ends what cannot be crawled since a host fails again and again.
func (c *Crawl) gaveUp(h *host, why string) {
	if c.ours(h) {
		c.end(Stopped, why)
		return
	}
	h.gone = true
	h.shut(h.origin + " is given up: " + why)
	c.endRobots(h)
}

// endRobots finishes the robots.txt of a host that nothing more is asked of.
func (c *Crawl) endRobots(h *host) {
	if h.robots.done {
		return
	}
	h.robots.done = true
	c.open.Add(1)
	c.outcomes <- &Outcome{entry: h.robots.entry, State: frontier.StateFailed, Reason: "robots.txt: cannot be had"}
}

// ours says whether an origin is part of the site, not one that helps out
// with a sitemap or with requisites.
func (c *Crawl) ours(h *host) bool { return c.scope.Load().Holds(robotsURL(h.origin)) }

// original is the response that the last copy of a robots.txt came in; nil
// if it is not held.
func (c *Crawl) original(e *frontier.Entry) *storage.Visit {
	visits, err := c.archive.VisitsOf(e.ID)
	if err != nil {
		return nil
	}
	for i := len(visits) - 1; i >= 0; i-- {
		v := visits[i]
		if v.Status != 200 {
			continue
		}
		if v.Refers != nil {
			v, err = c.archive.Visit(*v.Refers)
		}
		if err != nil || v == nil || v.Kept != storage.KeptResponse {
			return nil
		}
		return v
	}
	return nil
}
