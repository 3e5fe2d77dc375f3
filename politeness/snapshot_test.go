package politeness

import (
	"encoding/json"
	"testing"
	"time"
)

// again is h after a stop and restart: saved as JSON, as in the archive, and restored.
func again(t *testing.T, h *Host, o Options, now time.Time) *Host {
	t.Helper()
	b, err := json.Marshal(h.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	var s Snapshot
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	n := NewHost(o)
	n.Restore(s, now)
	return n
}

func TestGoingOnIsNeverEarlier(t *testing.T) {
	o := Options{Delay: 10 * time.Second, MaxFailures: 2}
	tests := []struct {
		name  string
		steps []step
		now   time.Duration
		want  time.Duration
	}{
		{"nothing happened", nil, time.Second, 0},
		{"after a page", []step{start(0), done(time.Second, ok)}, 2 * time.Second, 11 * time.Second},
		{"after a kill in flight", []step{start(time.Second)}, 2 * time.Second, 11 * time.Second},
		{"after a retry-after", []step{start(0), done(0, Result{Status: 503, RetryAfter: "300"})}, time.Second,
			5 * time.Minute},
		{"after giving up", []step{start(0), done(0, Result{Status: 503}), start(20 * time.Second),
			done(20*time.Second, Result{Status: 503})}, time.Minute, time.Minute},
		{"after the clock was put back", []step{start(48 * time.Hour),
			done(48*time.Hour, Result{Status: 503, RetryAfter: "300"})}, 0, time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := again(t, play(t, o, tt.steps), o, noon.Add(tt.now))
			w := h.Next(noon.Add(tt.now))
			if want := noon.Add(tt.want); !later(w.At, noon.Add(tt.now)).Equal(later(want, noon.Add(tt.now))) {
				t.Errorf("got %v (%s), want %v", w.At.Sub(noon), w.Why, tt.want)
			}
		})
	}
}

func TestAGivenUpHostGetsOneTry(t *testing.T) {
	o := Options{MaxFailures: 3, Backoff: 1}
	h := NewHost(o)
	for range 3 {
		h.Start(noon)
		h.Done(noon, Result{Failure: "refused"})
	}
	if gave, _ := h.GaveUp(); !gave {
		t.Fatal("did not give up")
	}
	h = again(t, h, o, noon.Add(time.Hour))
	if gave, why := h.GaveUp(); gave {
		t.Fatal(why)
	}
	h.Start(noon.Add(time.Hour))
	h.Done(noon.Add(time.Hour), Result{Failure: "refused"})
	if gave, _ := h.GaveUp(); !gave {
		t.Error("goes on failing")
	}
}

func TestHostileSnapshots(t *testing.T) {
	h := NewHost(Options{})
	h.Restore(Snapshot{LastEnd: noon.AddDate(9000, 0, 0), Until: noon.AddDate(9000, 0, 0), Failures: -1 << 62,
		Penalty: -5, Smoothed: -5}, noon)
	if w := h.Next(noon); w.At.After(noon.Add(time.Hour)) {
		t.Errorf("held until %v", w.At)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"120", "0", "-1", "1e9", "99999999999999999999", "Sun, 01 Mar 2026 12:00:30 GMT",
		"Sunday, 01-Mar-26 12:00:30 GMT", "Sun Mar  1 12:00:30 2026", "Thu, 01 Jan 9999 00:00:00 GMT", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h := NewHost(Options{})
		h.Start(noon)
		h.Done(noon, Result{Status: 503, RetryAfter: s})
		if at := h.Next(noon).At; at.Before(noon.Add(time.Second)) || at.After(noon.Add(time.Hour)) {
			t.Errorf("%q holds until %v", s, at)
		}
	})
}
