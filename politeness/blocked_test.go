package politeness

import (
	"testing"
	"time"
)

// Challenge pages have status 200: Done counts each as a success, and Blocked corrects that.
func TestChallengesSlowDownAndEndInGivingUp(t *testing.T) {
	h := NewHost(Options{Delay: time.Second, Backoff: time.Second, MaxFailures: 4})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	visit := func(blocked bool) time.Duration {
		if w := h.Next(now); w.At.After(now) && !w.At.Equal(Never) {
			now = w.At
		}
		h.Start(now)
		now = now.Add(10 * time.Millisecond)
		h.Done(now, Result{Status: 200, Took: 10 * time.Millisecond})
		if blocked {
			h.Blocked(now, "challenge")
		}
		return h.Next(now).At.Sub(now)
	}
	if d := visit(false); d != time.Second {
		t.Errorf("after a page: %v, want the delay", d)
	}
	last := time.Duration(0)
	for n := range 3 {
		d := visit(true)
		if d <= last || d < 2*time.Second {
			t.Errorf("after challenge %d: %v, want more than %v", n+1, d, last)
		}
		last = d
	}
	visit(false)
	visit(false)
	if gave, _ := h.GaveUp(); gave {
		t.Error("given up although pages came")
	}
	for range 4 {
		visit(true)
	}
	if gave, why := h.GaveUp(); !gave || why != "4 failures in a row, the last: challenge" {
		t.Errorf("got %v %q, want that the host is given up", gave, why)
	}
}

// With one challenge after each page, for ever, the pause stays as after the first challenge. With
// challenges only, it is bounded.
func TestChallengesAmongPagesDoNotAddUp(t *testing.T) {
	for _, c := range []struct {
		name    string
		every   int // one response in this many is a challenge
		longest time.Duration
	}{
		{"every second", 2, 2 * time.Second},
		{"every tenth", 10, 2 * time.Second},
		{"all of them", 1, 20 * time.Second},
	} {
		h := NewHost(Options{Delay: time.Second, MaxSlowdown: 20 * time.Second, MaxFailures: -1})
		now, most := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Duration(0)
		for n := range 400 {
			if w := h.Next(now); w.At.After(now) {
				most = max(most, w.At.Sub(now))
				now = w.At
			}
			h.Start(now)
			now = now.Add(time.Millisecond)
			h.Done(now, Result{Status: 200, Took: time.Millisecond})
			if n%c.every == c.every-1 {
				h.Blocked(now, "challenge")
			}
		}
		if most != c.longest {
			t.Errorf("%s: a pause of %v, want %v at most", c.name, most, c.longest)
		}
	}
}

// The count of consecutive challenges continues when a stopped crawl does: reaching the limit ends the
// crawl, and pages before or after the stop reset the count.
func TestARowOfChallengesOutlivesAStop(t *testing.T) {
	const challenge, page = true, false
	o := Options{Delay: time.Second, MaxFailures: 4}
	tests := []struct {
		name          string
		before, after []bool
		gave          bool
	}{
		{"challenges on both sides", []bool{challenge, challenge, challenge}, []bool{challenge}, true},
		{"too few of them", []bool{challenge, challenge}, []bool{challenge}, false},
		{"a page before the stop", []bool{challenge, challenge, challenge, page}, []bool{challenge}, false},
		{"a page after it", []bool{challenge, challenge, challenge}, []bool{page, challenge}, false},
		{"given up before, it gets one try", []bool{challenge, challenge, challenge, challenge}, []bool{challenge}, true},
		{"given up before, and a page comes", []bool{challenge, challenge, challenge, challenge}, []bool{page}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := noon
			visit := func(h *Host, blocked bool) {
				now = now.Add(time.Hour)
				h.Start(now)
				h.Done(now, ok)
				if blocked {
					h.Blocked(now, "challenge")
				}
			}
			stopped, going := NewHost(o), NewHost(Options{Delay: time.Second, MaxFailures: -1})
			for _, blocked := range tt.before {
				visit(stopped, blocked)
				visit(going, blocked)
			}
			h := again(t, stopped, o, now)
			for _, blocked := range tt.after {
				visit(h, blocked)
				visit(going, blocked)
			}
			if gave, why := h.GaveUp(); gave != tt.gave {
				t.Errorf("given up: %v %q, want %v", gave, why, tt.gave)
			}
			if h.penalty != going.penalty {
				t.Errorf("a pause of %v, want %v as without the stop", h.penalty, going.penalty)
			}
		})
	}
}
