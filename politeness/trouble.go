package politeness

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"curtsy/internal/dates"
)

// trouble is the effect of a host's failures.
type trouble struct {
	failures    int // consecutive ones
	lastFailure string
	failedAt    time.Time // when the last one was counted
	until       time.Time // no request before this time
	untilWhy    string
	penalty     time.Duration // a pause that failures lengthen and successes shorten
	blocks      int           // consecutive challenges
	pages       int           // successes since the last challenge
}

// outcome is what a result says about the host.
type outcome int

const (
	neutral  outcome = iota // nothing: a fault of the page or the crawler
	success                 // the host responds
	slowdown                // it fails, perhaps for this page only
	hold                    // it fails, or asks for fewer requests
)

// outcome evaluates a result. 429 and 503 mean "not now" (RFC 6585 §4, RFC 9110 §15.6.4); any other 5xx may
// be a single broken page.
func (r Result) outcome() outcome {
	switch r.Failure {
	case "canceled", "blocked", "local", "internal error", "protocol", "too-large-head":
		return neutral
	case "":
	default: // dns, refused, connect, tls, timeout, disconnect, proxy
		return hold
	}
	switch {
	case r.Status == 0:
		return neutral
	case r.Status == 429 || r.Status == 503:
		return hold
	case r.Status >= 500:
		return slowdown
	}
	return success
}

func (r Result) text() string {
	if r.Failure != "" {
		return r.Failure
	}
	return fmt.Sprintf("HTTP %d", r.Status)
}

// judge makes the host wait, slows it down or speeds it up, depending on a result.
func (h *Host) judge(end time.Time, r Result) {
	h.retryAfter(end, r)
	what := r.outcome()
	if what == neutral || end.Add(-r.Took).Before(h.failedAt) {
		return // a request from before the last failure says nothing new
	}
	if what == success {
		h.speedUp()
		return
	}
	h.failures++
	h.failedAt, h.lastFailure = end, r.text()
	h.penalize()
	n := h.failures
	if what == slowdown {
		n-- // the first may be a single broken page
	}
	if n > 0 {
		d := h.backoff(n)
		h.holdUntil(end.Add(d), fmt.Sprintf("backoff %v (%s)", d, h.lastFailure))
	}
}

// backoff returns the wait after n consecutive failures.
func (h *Host) backoff(n int) time.Duration {
	d := h.o.Backoff
	for ; n > 1 && d < h.o.MaxBackoff; n-- {
		d *= 2
	}
	return min(d, h.o.MaxBackoff)
}

// holdUntil blocks requests until t, unless they are blocked for longer.
func (h *Host) holdUntil(t time.Time, why string) {
	if t.After(h.until) {
		h.until, h.untilWhy = t, why
	}
}

// minPenalty is the least penalty; a smaller one is dropped.
const minPenalty = 100 * time.Millisecond

func (h *Host) penalize() {
	h.penalty = max(2*h.penalty, 2*h.o.Delay, minPenalty)
	h.penalty = min(h.penalty, h.o.MaxBackoff, h.o.MaxSlowdown)
}

// speedUp ends a series of failures and halves the penalty.
func (h *Host) speedUp() {
	h.failures = 0
	h.pages++
	if h.penalty /= 2; h.penalty < minPenalty {
		h.penalty = 0
	}
}

// GaveUp reports whether there were MaxFailures consecutive failures, so that the crawl should stop, to be
// resumed later. The text describes them.
func (h *Host) GaveUp() (bool, string) {
	if h.o.MaxFailures < 0 || h.failures < h.o.MaxFailures {
		return false, ""
	}
	return true, fmt.Sprintf("%d failures in a row, the last: %s", h.failures, h.lastFailure)
}

// Blocked records that a response that ended at end, and was passed to Done, was a challenge: the site may
// be rejecting the crawler. The host waits and slows down as after a failure, but not beyond MaxSlowdown;
// consecutive challenges add up to GaveUp. A page in between ends the series. That Done counted the
// challenge as a success is undone.
func (h *Host) Blocked(end time.Time, what string) {
	if h.pages > 1 { // one of them is the challenge itself
		h.blocks, h.penalty = 0, 0
	}
	h.blocks++
	h.pages = 0
	h.failures = max(h.failures, h.blocks)
	h.failedAt, h.lastFailure = end, what
	h.penalty *= 2 // undoes speedUp
	h.penalize()
	d := min(h.backoff(h.blocks), h.o.MaxSlowdown)
	h.holdUntil(end.Add(d), fmt.Sprintf("backoff %v (%s)", d, what))
	h.reserve()
}

// retryAfter obeys Retry-After for the whole host where it means that: with 503 and redirects (RFC 9110
// §10.2.3) and with 429 (RFC 6585 §4).
func (h *Host) retryAfter(end time.Time, r Result) {
	redirect := r.Status >= 300 && r.Status < 400
	if r.RetryAfter == "" || !redirect && r.Status != 429 && r.Status != 503 {
		return
	}
	d, ok := readRetryAfter(r.RetryAfter, end)
	if !ok {
		return // the effect of the status remains
	}
	why := fmt.Sprintf("retry-after %v (%s)", d, r.text())
	if most := h.o.MaxRetryAfter; d > most {
		why = fmt.Sprintf("retry-after %v (%s), cut from %v", most, r.text(), d)
		d = most
	}
	h.holdUntil(end.Add(d), why)
}

// readRetryAfter parses seconds or a date into the time from now. ok is false for negative, past or invalid
// values.
func readRetryAfter(s string, now time.Time) (time.Duration, bool) {
	s = strings.Trim(s, " \t")
	if s != "" && strings.Trim(s, "0123456789") == "" {
		n, err := strconv.ParseInt(s, 10, 64)
		const most = int64(1<<63-1) / int64(time.Second)
		if err != nil || n > most {
			n = most
		}
		return time.Duration(n) * time.Second, n > 0
	}
	t, ok := dates.Parse(s)
	if !ok {
		return 0, false
	}
	d := t.Sub(now.Round(0)) // by the wall clock
	return d, d > 0
}
