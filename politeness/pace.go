package politeness

import (
	"fmt"
	"time"
)

// Delay is the pause in force and where it comes from. That of a Request-rate runs
// from one start to the next, any other as reserve says.
func (h *Host) Delay() (time.Duration, string) {
	d, why := h.pause()
	if r := ratePause(h.rules); r > d || r == d && r > h.rules.CrawlDelay {
		return r, h.texts.rate
	}
	return d, why
}

// pause is the pause in force beside a Request-rate.
func (h *Host) pause() (time.Duration, string) {
	d, why := h.o.Delay, h.texts.configured
	if c := h.rules.CrawlDelay; c > 0 && c >= d {
		d, why = c, h.texts.crawlDelay
	}
	if a := h.adaptive(); a > d {
		d = a
		why = fmt.Sprintf("%g times the server's response time: %v", h.o.Adaptive, rounded(d))
	}
	if h.penalty > d {
		d = h.penalty
		why = fmt.Sprintf("slowed down to %v (%s)", rounded(d), h.lastFailure)
	}
	return d, why
}

// rounded is a measured duration as people read it: to the millisecond, a short one to the
// hundredth of one.
func rounded(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}

// SetDelay takes another pause than Options.Delay. It holds from the next request
// on, one that is waited for already included.
func (h *Host) SetDelay(d time.Duration) {
	h.o.Delay = min(max(d, 0), maxPause)
	h.SetRules(h.rules)
}

// Share keeps another pace together with others than Options.Shared; nil is none.
func (h *Host) Share(s *Shared) { h.o.Shared = s }

// ratePause keeps a Request-rate: the time between two requests, rounded up.
func ratePause(r Rules) time.Duration {
	n := time.Duration(r.Requests)
	if n <= 0 || r.Per <= 0 {
		return 0
	}
	d := r.Per / n
	if d*n < r.Per {
		d++
	}
	return min(d, maxPause)
}

// adaptive is the pause that the server's speed asks for.
func (h *Host) adaptive() time.Duration {
	if h.o.Adaptive <= 0 || h.o.Delay == 0 {
		return 0
	}
	return time.Duration(min(h.o.Adaptive*float64(h.smoothed), float64(h.o.MaxAdaptive)))
}

// learn smooths the response times, as TCP does the round trips (RFC 6298).
func (h *Host) learn(r Result) {
	switch {
	case r.Status == 0 || r.Took <= 0:
	case h.smoothed == 0:
		h.smoothed = r.Took
	default:
		h.smoothed += (r.Took - h.smoothed) / 8
	}
}

// reserve sets when the pause before the next request ends: it begins at the
// end of the last download or, where requests overlap, at the last start. A
// Request-rate is of starts.
func (h *Host) reserve() {
	pause, why := h.pause()
	from := h.lastStart
	if h.serial() {
		from = later(from, h.lastEnd)
	}
	h.nextWhy = why
	if from.IsZero() { // nobody has asked this host yet
		return
	}
	h.next = from.Add(pause)
	if rate := ratePause(h.rules); rate > 0 && !h.lastStart.Add(rate).Before(h.next) {
		h.next, h.nextWhy = h.lastStart.Add(rate), h.texts.rate
	}
}

// texts are the reasons that do not change from request to request.
type texts struct {
	configured, crawlDelay, rate, visit string
}

func textsOf(o Options, r Rules) texts {
	return texts{
		configured: fmt.Sprintf("configured delay %v", o.Delay),
		crawlDelay: fmt.Sprintf("crawl-delay %v (robots.txt line %d)", r.CrawlDelay, r.DelayLine),
		rate:       fmt.Sprintf("request-rate %d/%v (robots.txt line %d)", r.Requests, r.Per, r.RateLine),
		visit:      fmt.Sprintf("visit-time (robots.txt line %d), until ", r.VisitLine),
	}
}
