package rules

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"curtsy/politeness"
)

// limit is one Crawl-delay, Request-rate or Visit-time line.
type limit struct {
	politeness.Rules // what it asks for

	from, to int // indices of the group's agents that it belongs to
}

// CrawlDelay returns the pause that the site asks for, the largest of several, capped by
// Options.MaxCrawlDelay.
func (r *Robots) CrawlDelay() (d time.Duration, line int, ok bool) { return delayOf(r.pace) }

// CrawlDelay returns the largest delay of the group's lines.
func (g *Group) CrawlDelay() (d time.Duration, line int, ok bool) {
	var all politeness.Rules
	for _, l := range g.limits {
		all = all.And(l.Rules)
	}
	return delayOf(all)
}

func delayOf(p politeness.Rules) (d time.Duration, line int, ok bool) {
	return p.CrawlDelay, p.DelayLine, p.DelayLine != 0
}

// capDelay applies Options.MaxCrawlDelay, with a warning.
func (r *Robots) capDelay() {
	most := r.options.MaxCrawlDelay
	if most <= 0 || r.pace.CrawlDelay <= most {
		return
	}
	r.warn(r.pace.DelayLine, "Crawl-delay of %v is over the configured limit: %v is used", r.pace.CrawlDelay, most)
	r.pace.CrawlDelay = most
}

// Pace returns the time rules of the site: of several delays the largest, of several rates the slowest, of
// several visit times the first.
func (r *Robots) Pace() politeness.Rules { return r.pace }

// VisitTime returns the time of day, in UTC, at which the site wants visits.
func (r *Robots) VisitTime() (v VisitTime, ok bool) {
	v, ok = r.pace.Visit.(VisitTime)
	return v, ok
}

// readLimit parses a line; bad says what is wrong with it, "" if nothing is.
func readLimit(e entry) (l limit, bad string) {
	var ok bool
	switch e.is {
	case fieldDelay:
		l.CrawlDelay, ok = readSeconds(e.value)
		l.DelayLine, bad = e.line, "Crawl-delay %s is not a number of seconds: ignored"
	case fieldRate:
		l.Requests, l.Per, ok = readRate(e.value)
		l.RateLine, bad = e.line, "Request-rate %s is not of the form 1/10s: ignored"
	case fieldVisit:
		var v VisitTime
		v, ok = readVisit(e.value)
		v.Line = e.line
		l.Visit, l.VisitLine, bad = v, e.line, "Visit-time %s is not of the form 0600-0845: ignored"
	}
	if ok {
		return l, ""
	}
	return limit{}, fmt.Sprintf(bad, quote(e.value))
}

// readSeconds parses a decimal number. A value that overflows is the longest Duration.
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

// readRate parses "documents/time"; the unit of time is s, m or h. Hours of the day may follow; they are
// ignored, so that the rate always applies.
func readRate(s string) (requests int, per time.Duration, ok bool) {
	s, _, _ = strings.Cut(s, " ")
	documents, span, ok := strings.Cut(s, "/")
	span = strings.ToLower(span)
	unit := time.Second
	for suffix, is := range map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour} {
		if digits, has := strings.CutSuffix(span, suffix); has {
			span, unit = digits, is
			break
		}
	}
	n, err1 := strconv.ParseUint(documents, 10, 31)
	t, err2 := strconv.ParseUint(span, 10, 21) // 24 days in seconds, without overflow in hours
	if !ok || err1 != nil || err2 != nil || n == 0 || t == 0 {
		return 0, 0, false
	}
	return int(n), time.Duration(t) * unit, true
}
