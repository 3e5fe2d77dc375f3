package politeness

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The limiter converts durations to rates and back; no pause may come out a nanosecond too short or too
// long.
func TestEveryPauseIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pauses := []time.Duration{1, 2, 3, 7, 999, time.Microsecond, 10 * ms, 200 * ms, time.Second / 3, 24 * time.Hour}
	for range 20_000 {
		pauses = append(pauses, time.Duration(r.Int64N(int64(1)<<(1+r.IntN(46)))+1)) // up to 39 hours
	}
	for _, pause := range pauses {
		h := NewHost(Options{Delay: pause})
		now := noon.Add(time.Duration(r.Int64N(1 << 40)))
		for range 3 {
			h.Start(now)
			now = now.Add(time.Duration(r.Int64N(int64(2*pause) + 1)))
			h.Done(now, ok)
			if got := h.Next(now).At.Sub(now); got != pause {
				t.Fatalf("a pause of %v becomes %v", pause, got)
			}
			now = h.Next(now).At
		}
	}
}

// The same when pauses are counted between starts and the pause changes meanwhile.
func TestOverlappingPausesAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	h := NewHost(Options{Delay: 10 * ms, Concurrency: 1 << 20})
	now := noon
	for range 20_000 {
		pause := 10*ms + time.Duration(r.Int64N(int64(time.Second)))
		h.SetRules(Rules{Requests: 1, Per: pause})
		h.Start(now)
		if got := h.Next(now).At.Sub(now); got != pause {
			t.Fatalf("a pause of %v becomes %v", pause, got)
		}
		now = h.Next(now).At.Add(time.Duration(r.Int64N(3)))
	}
}

// A pause too long for the limiter's arithmetic is still a long pause.
func TestAbsurdPausesAreLong(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, pause := range []time.Duration{year, 100 * year, 1 << 62, math.MaxInt64 - 1, math.MaxInt64} {
		for why, c := range map[string]struct {
			o Options
			r Rules
		}{
			"configured delay": {o: Options{Delay: pause}},
			"crawl-delay":      {r: Rules{CrawlDelay: pause, DelayLine: 1}},
			"request-rate":     {r: Rules{Requests: 1, Per: pause, RateLine: 1}},
		} {
			h := NewHost(c.o)
			for range 3 { // set before the request, then learned from it
				h.Start(noon)
				h.Done(noon.Add(ms), ok)
				h.SetRules(c.r)
				if w := h.Next(noon.Add(time.Hour)); w.At.Before(noon.Add(year-time.Second)) ||
					!strings.HasPrefix(w.Why, why) {
					t.Errorf("a %s of %v is over at %v (%s)", why, pause, w.At, w.Why)
				}
			}
		}
	}
}

// A crawl that waits as told takes the calculated time, to the nanosecond.
func TestACrawlTakesTheArithmeticTime(t *testing.T) {
	tests := []struct {
		name        string
		o           Options
		rules       Rules
		took        time.Duration
		pages       int
		want        time.Duration
		atATime     int
		pauseAtLast time.Duration
	}{
		{"10 ms, 1,000 pages of 3 ms", Options{Delay: 10 * ms}, Rules{}, 3 * ms, 1000, 999*13*ms + 3*ms, 1, 10 * ms},
		{"crawl-delay 200 ms, 200 pages of 5 ms, 8 workers", Options{Concurrency: 8},
			Rules{CrawlDelay: 200 * ms, DelayLine: 1}, 5 * ms, 200, 199*205*ms + 5*ms, 1, 200 * ms},
		{"no delay, one at a time", Options{}, Rules{}, 5 * ms, 100, 500 * ms, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHost(tt.o)
				h.SetRules(tt.rules)
				began := time.Now()
				for range tt.pages {
					time.Sleep(time.Until(h.Next(time.Now()).At))
					h.Start(time.Now())
					if w := h.Next(time.Now()); tt.atATime == 1 && !w.Busy {
						t.Fatal("a second request may begin")
					}
					time.Sleep(tt.took)
					h.Done(time.Now(), Result{Status: 200, Took: tt.took})
				}
				if got := time.Since(began); got != tt.want {
					t.Errorf("took %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func BenchmarkNextStartDone(b *testing.B) {
	h := NewHost(Options{Concurrency: 16})
	now := noon
	b.ReportAllocs()
	for b.Loop() {
		_ = h.Next(now)
		h.Start(now)
		now = now.Add(ms)
		h.Done(now, Result{Status: 200, Took: ms})
	}
}
