package politeness

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"curtsy/internal/dates"
)

// trouble is what a host's failures have led to.
type trouble struct {
	failures    int // in a row
	lastFailure string
	failedAt    time.Time // when the last one was counted
	until       time.Time // nobody asks before
	untilWhy    string
	penalty     time.Duration // a pause that failures lengthen and successes shorten
	blocks      int           // answers in a row that stood in a page's place
	pages       int           // successes since the last of them
}

// outcome is what a result says about the host.
type outcome int

const (
	neutral  outcome = iota // nothing: the fault is the page's or the crawler's
	success                 // it answers
	slowdown                // it fails, perhaps on this page only
	hold                    // it fails, or says that it has enough
)

// outcome reads a result. 429 and 503 are the server's own words for "not
// now" (RFC 6585 §4, RFC 9110 §15.6.4); any other 5xx may be one broken page.
func (r Result) outcome() outcome {
	switch r.Failure {
	case "canceled", "blocked", "local", "protocol", "too-large-head":
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

// judge lets a result hold the host, slow it down or speed it up again.
func (h *Host) judge(end time.Time, r Result) {
	h.retryAfter(end, r)
	what := r.outcome()
	if what == neutral || end.Add(-r.Took).Before(h.failedAt) {
		return // begun before the last failure, it tells nothing new
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
		n-- // the first may be one broken page
	}
	if n > 0 {
		d := h.backoff(n)
		h.holdUntil(end.Add(d), fmt.Sprintf("backoff %v (%s)", d, h.lastFailure))
	}
}

// backoff is the hold after n failures in a row.
func (h *Host) backoff(n int) time.Duration {
	d := h.o.Backoff
	for ; n > 1 && d < h.o.MaxBackoff; n-- {
		d *= 2
	}
	return min(d, h.o.MaxBackoff)
}

// holdUntil holds the host, if nothing holds it longer.
func (h *Host) holdUntil(t time.Time, why string) {
	if t.After(h.until) {
		h.until, h.untilWhy = t, why
	}
}

// minPenalty is the least pause of a host that was in trouble: what is
// shorter is over.
const minPenalty = 100 * time.Millisecond

func (h *Host) penalize() {
	h.penalty = max(2*h.penalty, 2*h.o.Delay, minPenalty)
	h.penalty = min(h.penalty, h.o.MaxBackoff, h.o.MaxSlowdown)
}

// speedUp ends a row of failures; the pause shrinks with each success.
func (h *Host) speedUp() {
	h.failures = 0
	h.pages++
	if h.penalty /= 2; h.penalty < minPenalty {
		h.penalty = 0
	}
}

// GaveUp says whether there were so many failures in a row that the crawl
// should stop, to be resumed later, and which.
func (h *Host) GaveUp() (bool, string) {
	if h.o.MaxFailures < 0 || h.failures < h.o.MaxFailures {
		return false, ""
	}
	return true, fmt.Sprintf("%d failures in a row, the last: %s", h.failures, h.lastFailure)
}

// Blocked says that an answer which ended then, and was reported to Done,
// stood in a page's place: the site may be turning the crawler away. The host
// is held and slowed down as for a failure, though not beyond MaxSlowdown, and
// a row of them ends the crawl. A page in between ends the row: challenges
// among good pages do not add up. That Done took it for a success is undone.
func (h *Host) Blocked(end time.Time, what string) {
	if h.pages > 1 { // one is the challenge itself
		h.blocks, h.penalty = 0, 0
	}
	h.blocks++
	h.pages = 0
	h.failures = max(h.failures, h.blocks)
	h.failedAt, h.lastFailure = end, what
	h.penalty *= 2 // as it was
	h.penalize()
	d := min(h.backoff(h.blocks), h.o.MaxSlowdown)
	h.holdUntil(end.Add(d), fmt.Sprintf("backoff %v (%s)", d, what))
	h.reserve()
}

// retryAfter obeys a Retry-After field for the whole host, where it means
// that: with 503 and redirects (RFC 9110 §10.2.3) and 429 (RFC 6585 §4). With
// any other status it says nothing about the host.
func (h *Host) retryAfter(end time.Time, r Result) {
	redirect := r.Status >= 300 && r.Status < 400
	if r.RetryAfter == "" || !redirect && r.Status != 429 && r.Status != 503 {
		return
	}
	d, ok := readRetryAfter(r.RetryAfter, end)
	if !ok {
		return // what the status itself asks for remains
	}
	why := fmt.Sprintf("retry-after %v (%s)", d, r.text())
	if most := h.o.MaxRetryAfter; d > most {
		why = fmt.Sprintf("retry-after %v (%s), cut from %v", most, r.text(), d)
		d = most
	}
	h.holdUntil(end.Add(d), why)
}

// readRetryAfter reads seconds or a date as the time from now. Not ok is
// what cannot be waited for: negative, past, garbage.
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
