package crawler

import (
	"fmt"
	"net/http"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/warc"
)

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

// robotsFetch is what came of one request for a robots.txt.
type robotsFetch struct {
	origin  *origin
	version storage.RobotsVersion
	body    []byte
	rules   *rules.Robots
	hop     weburl.URL // not zero: ask there
	same    bool       // 304: the last one is in force still
	failed  string     // why it is unavailable for now
	blocked bool       // and stays so: its address is not to be dialled
}

// readRobots reads the answer to a request for robots.txt (RFC 9309 §2.3.1).
func (c *Crawl) readRobots(j *job, x *fetch.Exchange) *robotsFetch {
	r := &robotsFetch{origin: j.robots.origin}
	v := &r.version
	*v = storage.RobotsVersion{Origin: r.origin.name, At: x.Start.UTC(), Status: x.Status}
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
// the rules are unavailable, and none are in force.
func (c *Crawl) robotsHad(r *robotsFetch, now time.Time) (refused string) {
	o := r.origin
	s := &o.robots
	s.busy = false
	s.visits++
	if !r.hop.IsZero() {
		s.url = r.hop
		s.hops++
		s.due = now
		return ""
	}
	s.url, s.hops = robotsURL(o.name), 0
	if r.failed != "" {
		return c.robotsFailed(r, now)
	}
	s.tries, s.done = 0, true
	s.good, s.due = now, r.version.Expires
	if r.same {
		o.from.Expires = r.version.Expires
		return ""
	}
	c.enforce(o, r.rules, r.version)
	return ""
}

// robotsFailed keeps the last good copy in force, or waits, or gives up.
func (c *Crawl) robotsFailed(r *robotsFetch, now time.Time) (refused string) {
	o, why := r.origin, r.failed
	s := &o.robots
	s.tries++
	s.due = now.Add(min(c.opts.RetryBase<<min(s.tries-1, 10), time.Hour))
	if r.blocked && o.rules == nil {
		return fmt.Sprintf("%s/robots.txt: %s", o.name, why)
	}
	c.opts.Logger.Warn("robots.txt is unavailable", "origin", o.name, "why", why, "again", s.due.Sub(now))
	if o.rules != nil {
		if !s.good.IsZero() && now.Sub(s.good) > maxRobotsGone {
			c.enforce(o, rules.AllowAll("robots.txt was unavailable for 30 days"), o.from)
		}
		return ""
	}
	if s.tries < maxRobotsTries {
		return ""
	}
	return fmt.Sprintf("%s/robots.txt: %s (tried %d times)", o.name, why, s.tries)
}

// robotsVisit is the job of asking for a robots.txt.
func (c *Crawl) robotsVisit(o *origin) *job {
	s := &o.robots
	j := &job{entry: s.entry, url: s.url, n: s.visits + 1, refetch: s.done, origin: o,
		robots: &robotsJob{origin: o, hops: s.hops, had: o.from}}
	if o.rules != nil && s.hops == 0 && o.from.Digest != "" && (o.from.ETag != "" || o.from.LastMod != "") {
		j.original = c.original(s.entry)
	}
	if j.original != nil {
		j.conditional = true
		j.header = http.Header{}
		if o.from.ETag != "" {
			j.header.Set("If-None-Match", o.from.ETag)
		}
		if o.from.LastMod != "" {
			j.header.Set("If-Modified-Since", o.from.LastMod)
		}
	}
	return j
}

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
