package politeness

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"curtsy/internal/dates"
)

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
