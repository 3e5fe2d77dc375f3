package politeness

import "time"

// Snapshot is what a stopped crawl must remember of a host, so that going on
// with it begins no earlier than going on would have.
type Snapshot struct {
	LastEnd     time.Time     `json:"last_end,omitzero"`
	Until       time.Time     `json:"until,omitzero"`
	UntilWhy    string        `json:"until_why,omitempty"`
	Failures    int           `json:"failures,omitempty"`
	LastFailure string        `json:"last_failure,omitempty"`
	Penalty     time.Duration `json:"penalty,omitempty"`
	Smoothed    time.Duration `json:"smoothed,omitempty"`
	// Blocks is the row of answers that stood in a page's place, Pages the successes
	// since the last of them.
	Blocks int `json:"blocks,omitempty"`
	Pages  int `json:"pages,omitempty"`
}

// Snapshot gives the state to keep.
func (h *Host) Snapshot() Snapshot {
	return Snapshot{
		LastEnd:  later(h.lastEnd, h.lastStart).Round(0),
		Until:    h.until.Round(0),
		UntilWhy: h.untilWhy,
		Failures: h.failures, LastFailure: h.lastFailure,
		Penalty: h.penalty, Smoothed: h.smoothed,
		Blocks: h.blocks, Pages: h.pages,
	}
}

// Restore goes on from a snapshot. A host that was given up gets one try.
// The clock may have been changed in between: nothing lies in the future
// for longer than it could have been held.
func (h *Host) Restore(s Snapshot, now time.Time) {
	h.lastEnd = earlier(s.LastEnd, now)
	h.lastStart = h.lastEnd
	h.until = earlier(s.Until, now.Add(max(h.o.MaxRetryAfter, h.o.MaxBackoff)))
	h.untilWhy = s.UntilWhy
	h.failures, h.lastFailure = max(s.Failures, 0), s.LastFailure
	h.blocks, h.pages = max(s.Blocks, 0), max(s.Pages, 0)
	if h.o.MaxFailures > 0 {
		h.failures, h.blocks = min(h.failures, h.o.MaxFailures-1), min(h.blocks, h.o.MaxFailures-1)
	}
	h.penalty = min(max(s.Penalty, 0), h.o.MaxBackoff, h.o.MaxSlowdown)
	h.smoothed = max(s.Smoothed, 0)
	h.reserve()
}

// earlier is the earlier of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
