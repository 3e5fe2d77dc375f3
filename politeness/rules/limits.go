package rules

import (
	"math"
	"strconv"
	"strings"
	"time"

	"curtsy/politeness"
)

// RequestRate is at most so many requests in a time ("1/10s", "2/1m").
type RequestRate struct {
	Requests int
	Per      time.Duration
	Line     int
}

// limit is one Crawl-delay, Request-rate or Visit-time line.
type limit struct {
	is       field
	line     int
	from, to int // which of its group's agents it belongs to
	delay    time.Duration
	rate     RequestRate
	visit    VisitTime
}

// limits are those that hold for the agents; a line of 0 means there is none.
type limits struct {
	delay     time.Duration
	delayLine int
	rate      RequestRate
	visit     VisitTime
}

// add adds a limit: the largest delay and the slowest rate hold, and the
// first visit time.
func (l *limits) add(one limit) {
	switch {
	case one.is == fieldDelay && (l.delayLine == 0 || one.delay > l.delay):
		l.delay, l.delayLine = one.delay, one.line
	case one.is == fieldRate && (l.rate.Line == 0 || one.rate.pause() > l.rate.pause()):
		l.rate = one.rate
	case one.is == fieldVisit && l.visit.Line == 0:
		l.visit = one.visit
	}
}

// pause is the time between two requests that keeps the rate.
func (q RequestRate) pause() time.Duration { return q.Per / time.Duration(q.Requests) }

func largestDelay(ls []limit) (d time.Duration, line int, ok bool) {
	var sum limits
	for _, l := range ls {
		if l.is == fieldDelay {
			sum.add(l)
		}
	}
	return sum.delay, sum.delayLine, sum.delayLine != 0
}

// CrawlDelay is the pause the site asks for; of several the largest. It is
// never above Options.MaxCrawlDelay.
func (r *Robots) CrawlDelay() (d time.Duration, line int, ok bool) {
	return r.limits.delay, r.limits.delayLine, r.limits.delayLine != 0
}

// capDelay applies Options.MaxCrawlDelay, and says so.
func (r *Robots) capDelay() {
	most := r.options.MaxCrawlDelay
	if most <= 0 || r.limits.delay <= most {
		return
	}
	r.warn(r.limits.delayLine, "Crawl-delay of %v is over the configured limit: %v is used", r.limits.delay, most)
	r.limits.delay = most
}

// RequestRate is the rate the site asks for; of several the slowest.
func (r *Robots) RequestRate() (RequestRate, bool) { return r.limits.rate, r.limits.rate.Line != 0 }

// VisitTime is the time of day, UTC, that the site wants visits at.
func (r *Robots) VisitTime() (VisitTime, bool) { return r.limits.visit, r.limits.visit.Line != 0 }

// Pace is what the site asks for about time.
func (r *Robots) Pace() politeness.Rules {
	l := &r.limits
	p := politeness.Rules{CrawlDelay: l.delay, DelayLine: l.delayLine, Requests: l.rate.Requests, Per: l.rate.Per,
		RateLine: l.rate.Line}
	if l.visit.Line != 0 {
		p.Visit, p.VisitLine = l.visit, l.visit.Line
	}
	return p
}

func readLimit(e entry) (l limit, ok bool) {
	l = limit{is: e.is, line: e.line}
	switch e.is {
	case fieldDelay:
		l.delay, ok = readSeconds(e.value)
	case fieldRate:
		l.rate, ok = readRate(e.value)
		l.rate.Line = e.line
	case fieldVisit:
		l.visit, ok = readVisit(e.value)
		l.visit.Line = e.line
	}
	return l, ok
}

// readSeconds reads digits and at most one dot. What is longer than a
// Duration holds is the longest Duration.
func readSeconds(s string) (time.Duration, bool) {
	if s == "" || s == "." || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if f >= math.MaxInt64/1e9 {
		return math.MaxInt64, true // also where f is out of float64's range
	}
	return time.Duration(math.Round(f * 1e9)), err == nil
}

// readRate reads "documents/time"; the time's unit is s, m or h. Hours of
// day may follow; the rate is kept outside of them too.
func readRate(s string) (RequestRate, bool) {
	s, _, _ = strings.Cut(s, " ")
	requests, per, ok := strings.Cut(s, "/")
	per = strings.ToLower(per)
	unit := time.Second
	for suffix, is := range map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour} {
		if digits, has := strings.CutSuffix(per, suffix); has {
			per, unit = digits, is
			break
		}
	}
	n, err1 := strconv.ParseUint(requests, 10, 31)
	t, err2 := strconv.ParseUint(per, 10, 21) // 24 days in seconds, and no overflow in hours
	if !ok || err1 != nil || err2 != nil || n == 0 || t == 0 {
		return RequestRate{}, false
	}
	return RequestRate{Requests: int(n), Per: time.Duration(t) * unit}, true
}

func badLimit(e entry) string {
	switch e.is {
	case fieldDelay:
		return "Crawl-delay " + quote(e.value) + " is not a number of seconds: ignored"
	case fieldRate:
		return "Request-rate " + quote(e.value) + " is not of the form 1/10s: ignored"
	}
	return "Visit-time " + quote(e.value) + " is not of the form 0600-0845: ignored"
}
