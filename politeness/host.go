// Package politeness answers: when may the next request to a host begin? A
// Host takes what the site asked for, what the user set and how the server
// does, and gives one time and the reason for it. It is pure: it reads no
// clock and waits for nothing.
package politeness

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Options are what the user wants. The zero value is one request at a time
// without a pause, and the limits named below.
type Options struct {
	// Delay is the pause between requests. With 0 there is none, adaptive
	// ones neither, but where the site asks for one or is in trouble.
	Delay time.Duration
	// Concurrency is how many requests may be in flight; 0 is 1. With more
	// than one the pause runs between starts, else from the end of a
	// download to the start of the next.
	Concurrency int
	// Adaptive makes the pause at least so many times the smoothed response
	// time, but at most MaxAdaptive (0: 30 s). 0 turns it off.
	Adaptive    float64
	MaxAdaptive time.Duration
	// MaxRetryAfter is the longest Retry-After that is waited for; 0 is 1 h.
	MaxRetryAfter time.Duration
	// Backoff is the first hold after a failure; each further failure in a
	// row doubles it, up to MaxBackoff. 0 is 1 s and 10 min.
	Backoff, MaxBackoff time.Duration
	// MaxSlowdown is the longest pause that failures and pages which look like
	// challenges lead to, a row of such pages included; 0 is 1 min. It bounds
	// neither what the site asks for nor the hold after failures in a row.
	MaxSlowdown time.Duration
	// MaxFailures in a row make the host give up; 0 is 10, below 0 never.
	MaxFailures int
	// Shared is a pace that this host keeps together with others; nil is none.
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

// Hours are times of day. Next is the first time from t on within them.
type Hours interface {
	Next(t time.Time) time.Time
}

// Rules are what the site's robots.txt says about time. A line of 0 means
// that it does not say so.
type Rules struct {
	CrawlDelay time.Duration
	DelayLine  int
	Requests   int // Request-rate: so many requests
	Per        time.Duration
	RateLine   int
	Visit      Hours // Visit-time
	VisitLine  int
}

// And is what keeps both r and s: the longer pause of each kind, and the hours
// that are in both.
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

// maxPause is the longest pause that is kept. The longest Duration, which a
// site may ask for, would overflow where it is added to a time.
const maxPause = 365 * 24 * time.Hour

// Never is the time of a wait whose end is not known yet.
var Never = time.Unix(1<<40, 0)

// Wait says when the next request may begin: at once if At is not after now.
type Wait struct {
	At  time.Time
	Why string // what the wait is for: "crawl-delay 2s (robots.txt line 3)"
	// Busy means that as many requests are in flight as may be: At is Never,
	// ask again after Done.
	Busy bool
}

// Host is the state of one host. It is for one goroutine.
type Host struct {
	o     Options
	asked map[string]Rules // what the robots.txt of each of its origins says
	rules Rules            // all of that
	texts texts

	flying    int
	lastStart time.Time
	lastEnd   time.Time
	next      time.Time // when the pause before the next request ends
	nextWhy   string

	smoothed time.Duration // of the response times
	trouble
}

// NewHost begins with a host that nobody has asked yet.
func NewHost(o Options) *Host {
	h := &Host{o: o.withDefaults(), asked: map[string]Rules{}}
	h.SetRules(Rules{})
	return h
}

// Obey takes what the robots.txt of one of the host's origins, by http or by https,
// says now. All of them are kept.
func (h *Host) Obey(origin string, r Rules) {
	h.asked[origin] = r
	var all Rules
	for _, origin := range slices.Sorted(maps.Keys(h.asked)) {
		all = all.And(h.asked[origin])
	}
	h.SetRules(all)
}

// SetRules takes what the host is asked for now. It holds from the next request
// on, one that is waited for already included.
func (h *Host) SetRules(r Rules) {
	r.CrawlDelay = min(r.CrawlDelay, maxPause)
	h.rules = r
	h.texts = textsOf(h.o, r)
	h.reserve()
}

// Next says when the next request may begin. It changes nothing.
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

// open moves w to when neither the site's visiting hours nor the user's
// quiet ones are against it. They may take turns, but not for ever.
func (h *Host) open(w Wait, now time.Time) Wait {
	if h.rules.Visit == nil && len(h.o.Quiet) == 0 {
		return w
	}
	for range 2 * (len(h.o.Quiet) + 1) {
		at := later(w.At, now)
		if h.rules.Visit != nil {
			if t := h.rules.Visit.Next(at); t.After(at) {
				w, at = Wait{At: t, Why: h.texts.visit + clock(t)}, t
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

// most is how many requests may be in flight: with a Crawl-delay one, and
// one where a server in trouble is tried again.
func (h *Host) most() int {
	if h.serial() || h.failures > 0 {
		return 1
	}
	return h.o.Concurrency
}

// serial says whether the pause runs from the end of a download.
func (h *Host) serial() bool { return h.rules.CrawlDelay > 0 || h.o.Concurrency == 1 }

// Start says that a request begins.
func (h *Host) Start(now time.Time) {
	h.flying++
	h.lastStart = later(now, h.lastStart)
	if h.o.Shared != nil {
		h.o.Shared.take(now)
	}
	h.reserve()
}

// Result is how a request ended.
type Result struct {
	Status int // 0 if there was no response
	// Failure is the kind of what went wrong, "" if nothing did; see
	// trouble.go for those that speak about the host.
	Failure    string
	Took       time.Duration // from the start to the end
	RetryAfter string        // the field's value
}

// Done says that a request ended.
func (h *Host) Done(end time.Time, r Result) {
	h.flying = max(h.flying-1, 0)
	h.lastEnd = later(end, h.lastEnd)
	h.learn(r)
	h.judge(end, r)
	h.reserve()
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
