package politeness

import (
	"slices"
	"time"
)

// Snapshot is the state of a host that a stopped crawl stores, so that resuming it makes no request
// earlier than continuing would have.
type Snapshot struct {
	LastEnd     time.Time     `json:"last_end,omitzero"`
	Until       time.Time     `json:"until,omitzero"`
	UntilWhy    string        `json:"until_why,omitempty"`
	Failures    int           `json:"failures,omitempty"`
	LastFailure string        `json:"last_failure,omitempty"`
	Penalty     time.Duration `json:"penalty,omitempty"`
	Smoothed    time.Duration `json:"smoothed,omitempty"`
	// Blocks is the number of consecutive challenges, Pages the successes since the last of them.
	Blocks int `json:"blocks,omitempty"`
	Pages  int `json:"pages,omitempty"`
}

// Snapshot returns the state to store.
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

// Restore sets the state from a snapshot. A host that was given up gets one more try. As the clock may have
// been set meanwhile, times in the future are limited to the longest possible wait.
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

// earlier returns the earlier of two times.
func earlier(a, b time.Time) time.Time { return slices.MinFunc([]time.Time{a, b}, time.Time.Compare) }
