package politeness

import (
	"fmt"
	"time"
)

// Delay returns the pause in force and its reason. The pause of a Request-rate runs from start to
// start; for others see reserve.
func (h *Host) Delay() (time.Duration, string) {
	d, why := h.pause()
	if r := ratePause(h.rules); r > d || r == d && r > h.rules.CrawlDelay {
		return r, h.rateWhy()
	}
	return d, why
}

// pause returns the pause in force without Request-rate.
func (h *Host) pause() (time.Duration, string) {
	d, why := h.o.Delay, fmt.Sprintf("configured delay %v", h.o.Delay)
	if c := h.rules.CrawlDelay; c > 0 && c >= d {
		d, why = c, fmt.Sprintf("crawl-delay %v (robots.txt line %d)", c, h.rules.DelayLine)
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

// rounded rounds a duration for display: to 1 ms, short ones to 0.01 ms.
func rounded(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}

// SetDelay replaces Options.Delay. It applies from the next request on, even if a wait for it has begun.
func (h *Host) SetDelay(d time.Duration) {
	h.o.Delay = min(max(d, 0), maxPause)
	h.reserve()
}

// Share replaces Options.Shared; nil is none.
func (h *Host) Share(s *Shared) { h.o.Shared = s }

// ratePause returns the time between two requests for a Request-rate, rounded up.
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

// adaptive returns the pause for the server's response time.
func (h *Host) adaptive() time.Duration {
	if h.o.Adaptive <= 0 || h.o.Delay == 0 {
		return 0
	}
	return time.Duration(min(h.o.Adaptive*float64(h.smoothed), float64(h.o.MaxAdaptive)))
}

// learn smooths the response times, as TCP does round-trip times (RFC 6298).
func (h *Host) learn(r Result) {
	switch {
	case r.Status == 0 || r.Took <= 0:
	case h.smoothed == 0:
		h.smoothed = r.Took
	default:
		h.smoothed += (r.Took - h.smoothed) / 8
	}
}

// reserve computes when the pause before the next request ends. It begins at the end of the last download
// or, if requests overlap, at the last start. A Request-rate counts from the last start.
func (h *Host) reserve() {
	pause, why := h.pause()
	from := h.lastStart
	if h.serial() {
		from = later(from, h.lastEnd)
	}
	h.nextWhy = why
	if from.IsZero() { // no request has been made yet
		return
	}
	h.next = from.Add(pause)
	if rate := ratePause(h.rules); rate > 0 && !h.lastStart.Add(rate).Before(h.next) {
		h.next, h.nextWhy = h.lastStart.Add(rate), h.rateWhy()
	}
}

// rateWhy is the reason of a pause for a Request-rate.
func (h *Host) rateWhy() string {
	return fmt.Sprintf("request-rate %d/%v (robots.txt line %d)", h.rules.Requests, h.rules.Per, h.rules.RateLine)
}
