// Package politeness decides when the next request to a host may begin. A Host takes into account what
// the site asks for, what the user has set and how the server responds, and returns one time and its
// reason. It is pure: it reads no clock and never waits.
package politeness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Options are the user's settings. The zero value is one request at a time without a pause, with the
// defaults given below.
type Options struct {
	// Delay is the pause between requests. With 0 there is no pause, not even an adaptive one,
	// unless the site asks for one or is in trouble.
	Delay time.Duration
	// Concurrency is how many requests may be in flight; 0 is 1. With more than one, the pause
	// runs from start to start, else from the end of a download to the next start.
	Concurrency int
	// Adaptive makes the pause at least this many times the smoothed response time, but at most
	// MaxAdaptive (0: 30 s). 0 turns it off.
	Adaptive    float64
	MaxAdaptive time.Duration
	// MaxRetryAfter is the longest Retry-After that is obeyed; 0 is 1 h.
	MaxRetryAfter time.Duration
	// Backoff is the wait after a failure; each further consecutive failure doubles it, up to
	// MaxBackoff. 0 is 1 s and 10 min.
	Backoff, MaxBackoff time.Duration
	// MaxSlowdown bounds the pause that failures and challenges cause, consecutive challenges
	// included; 0 is 1 min. It bounds neither what the site asks for nor the Backoff.
	MaxSlowdown time.Duration
	// MaxFailures consecutive failures make the host give up; 0 is 10, negative is never.
	MaxFailures int
	// Shared is a pace that this host shares with others; nil is none.
	Shared *Shared
	// Quiet are the times of day at which the host is left alone.
	Quiet []Window
}

func (o Options) withDefaults() Options {
	o.Delay = min(max(o.Delay, 0), maxPause)
	o.Concurrency = max(o.Concurrency, 1)
	o.MaxAdaptive = cmp.Or(o.MaxAdaptive, 30*time.Second)
	o.MaxRetryAfter = cmp.Or(o.MaxRetryAfter, time.Hour)
	o.Backoff = cmp.Or(o.Backoff, time.Second)
	o.MaxBackoff = cmp.Or(o.MaxBackoff, 10*time.Minute)
	o.MaxSlowdown = cmp.Or(o.MaxSlowdown, time.Minute)
	o.MaxFailures = cmp.Or(o.MaxFailures, 10)
	return o
}

// Hours are times of day. Next returns the first time within them that is not before t.
type Hours interface {
	Next(t time.Time) time.Time
}

// Rules are the time rules of a robots.txt. A line of 0 means that the file does not have the rule.
type Rules struct {
	CrawlDelay time.Duration
	DelayLine  int
	Requests   int // Request-rate: Requests per Per
	Per        time.Duration
	RateLine   int
	Visit      Hours // Visit-time
	VisitLine  int
}

// And returns rules that satisfy both r and s: the longer pause of each kind, and the hours that are in
// both.
func (r Rules) And(s Rules) Rules {
	if s.CrawlDelay > r.CrawlDelay || r.CrawlDelay == 0 && r.DelayLine == 0 {
		r.CrawlDelay, r.DelayLine = s.CrawlDelay, s.DelayLine
	}
	if ratePause(s) > ratePause(r) {
		r.Requests, r.Per, r.RateLine = s.Requests, s.Per, s.RateLine
	}
	switch {
	case r.Visit == nil:
		r.Visit, r.VisitLine = s.Visit, s.VisitLine
	case s.Visit != nil:
		r.Visit = bothHours{r.Visit, s.Visit}
	}
	return r
}

// maxPause is the longest pause. The longest Duration, which a site may ask for, would overflow when added
// to a time.
const maxPause = 365 * 24 * time.Hour

// Never is the time of a wait whose end is unknown.
var Never = time.Unix(1<<40, 0)

// Wait says when the next request may begin: at once if At is not after the present time.
type Wait struct {
	At  time.Time
	Why string // the reason: "crawl-delay 2s (robots.txt line 3)"
	// Busy means that the maximum number of requests is in flight: At is Never; ask again after
	// Done.
	Busy bool
}

// Host is the state of one host. It is not safe for concurrent use.
type Host struct {
	o     Options
	asked map[string]Rules // by origin: the rules of its robots.txt
	rules Rules            // all of them combined

	flying    int
	lastStart time.Time
	lastEnd   time.Time
	next      time.Time // end of the pause before the next request
	nextWhy   string

	smoothed time.Duration // smoothed response time
	trouble
}

// NewHost returns the state of a host that has not been asked yet.
func NewHost(o Options) *Host {
	h := &Host{o: o.withDefaults(), asked: map[string]Rules{}}
	h.SetRules(Rules{})
	return h
}

// Obey sets the rules of the robots.txt of one of the host's origins (http or https). The rules of all
// origins are obeyed.
func (h *Host) Obey(origin string, r Rules) {
	h.asked[origin] = r
	var all Rules
	for _, origin := range slices.Sorted(maps.Keys(h.asked)) {
		all = all.And(h.asked[origin])
	}
	h.SetRules(all)
}

// SetRules replaces the rules. They apply from the next request on, even if a wait for it has begun.
func (h *Host) SetRules(r Rules) {
	r.CrawlDelay = min(r.CrawlDelay, maxPause)
	h.rules = r
	h.reserve()
}

// Next returns when the next request may begin. It changes nothing.
func (h *Host) Next(now time.Time) Wait {
	if gave, why := h.GaveUp(); gave {
		return Wait{At: Never, Why: why}
	}
	if h.flying >= h.most() {
		return Wait{At: Never, Why: "maximum number of requests in flight", Busy: true}
	}
	w := Wait{At: h.next, Why: h.nextWhy}
	if h.until.After(w.At) {
		w = Wait{At: h.until, Why: h.untilWhy}
	}
	if h.o.Shared != nil {
		if t := h.o.Shared.next(now); t.After(later(w.At, now)) {
			w = Wait{At: t, Why: h.o.Shared.why}
		}
	}
	return h.open(w, now)
}

// open moves w to a time that is within the site's visiting hours and outside the user's quiet hours. The
// number of alternations between these is bounded.
func (h *Host) open(w Wait, now time.Time) Wait {
	if h.rules.Visit == nil && len(h.o.Quiet) == 0 {
		return w
	}
	for range 2 * (len(h.o.Quiet) + 1) {
		at := later(w.At, now)
		if h.rules.Visit != nil {
			if t := h.rules.Visit.Next(at); t.After(at) {
				why := fmt.Sprintf("visit-time (robots.txt line %d), until %s", h.rules.VisitLine, clock(t))
				w, at = Wait{At: t, Why: why}, t
			}
		}
		for _, q := range h.o.Quiet {
			if t := q.Next(at); t.After(at) {
				w, at = Wait{At: t, Why: "quiet hours until " + clock(t)}, t
			}
		}
	}
	return w
}

func clock(t time.Time) string { return t.Format("2006-01-02 15:04 MST") }

// most returns how many requests may be in flight: one with a Crawl-delay or after a failure.
func (h *Host) most() int {
	if h.serial() || h.failures > 0 {
		return 1
	}
	return h.o.Concurrency
}

// serial reports whether the pause runs from the end of a download.
func (h *Host) serial() bool { return h.rules.CrawlDelay > 0 || h.o.Concurrency == 1 }

// Start records that a request begins.
func (h *Host) Start(now time.Time) {
	h.flying++
	h.lastStart = later(now, h.lastStart)
	if h.o.Shared != nil {
		h.o.Shared.take(now)
	}
	h.reserve()
}

// Result is the result of a request.
type Result struct {
	Status int // 0 if there was no response
	// Failure is the kind of the failure, "" for none; trouble.go lists those that concern the
	// host.
	Failure    string
	Took       time.Duration // from the start to the end
	RetryAfter string        // value of the header field
}

// Done records that a request has ended.
func (h *Host) Done(end time.Time, r Result) {
	h.flying = max(h.flying-1, 0)
	h.lastEnd = later(end, h.lastEnd)
	h.learn(r)
	h.judge(end, r)
	h.reserve()
}

// later returns the later of two times.
func later(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
