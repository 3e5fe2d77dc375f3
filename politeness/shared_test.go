package politeness

import (
	"math"
	"testing"
	"time"
)

// Hosts with a shared pace together receive no more requests than it allows, and each of them no more
// than its own pace allows.
func TestSharedPace(t *testing.T) {
	shared := NewShared(250 * ms)
	o := Options{Delay: time.Second, Shared: shared}
	hosts := []*Host{NewHost(o), NewHost(o), NewHost(o), NewHost(o), NewHost(o), NewHost(o)}
	alone := NewHost(Options{Delay: time.Second})
	now, last := noon, noon.Add(-time.Hour)
	for n := range 60 {
		at, first := Never, 0
		for i, h := range hosts {
			if w := h.Next(now); later(w.At, now).Before(at) {
				at, first = later(w.At, now), i
			}
		}
		now = at
		if gap := now.Sub(last); gap < 250*ms {
			t.Fatalf("request %d comes %v after the one before", n, gap)
		}
		hosts[first].Start(now)
		last = now
		now = now.Add(ms)
		hosts[first].Done(now, ok)
		if n == 0 && alone.Next(now).At.After(now) {
			t.Error("a host without the shared pace waits for it")
		}
	}
	if took := last.Sub(noon); took < 59*250*ms || took > 59*250*ms+time.Second {
		t.Errorf("60 requests took %v", took)
	}
	if w := NewHost(o).Next(last); !w.At.Equal(last.Add(250*ms)) ||
		w.Why != "one request per 250ms to all of them together" {
		t.Errorf("a new host waits until %v (%s)", w.At.Sub(last), w.Why)
	}
}

func TestNoSharedPace(t *testing.T) {
	for _, d := range []time.Duration{0, -1, math.MinInt64} {
		if NewShared(d) != nil {
			t.Errorf("one in %v is a limit", d)
		}
	}
	s := NewShared(math.MaxInt64)
	s.take(noon)
	if at := s.next(noon); at.Before(noon.Add(maxPause - time.Hour)) {
		t.Errorf("next at %v", at)
	}
}

func TestBandwidth(t *testing.T) {
	b := NewBandwidth(500_000)
	now := noon
	total := 0
	for range 1000 {
		total += 7777
		now = now.Add(b.ReserveN(now, 7777).DelayFrom(now))
	}
	want := time.Duration(float64(total-b.Burst()) / 500_000 * float64(time.Second))
	if took := now.Sub(noon); took < want || took > want+time.Millisecond {
		t.Errorf("%d bytes took %v, want %v", total, took, want)
	}
	if NewBandwidth(0) != nil || NewBandwidth(-1) != nil {
		t.Error("no limit is one")
	}
}

func TestAnotherDelayHoldsAtOnceAndNeverBelowTheSites(t *testing.T) {
	h := NewHost(Options{Delay: 10 * time.Second})
	h.Start(noon)
	h.Done(noon.Add(time.Second), Result{Status: 200})
	h.SetDelay(2 * time.Second)
	if w := h.Next(noon); !w.At.Equal(noon.Add(3 * time.Second)) {
		t.Errorf("next at %v", w.At.Sub(noon))
	}
	h.SetRules(Rules{CrawlDelay: 5 * time.Second, DelayLine: 2})
	h.SetDelay(time.Second)
	if w := h.Next(noon); !w.At.Equal(noon.Add(6 * time.Second)) {
		t.Errorf("with a Crawl-delay of 5 s: next at %v", w.At.Sub(noon))
	}
}
