package crawler

import (
	"slices"
	"testing"
	"time"
)

// site simulates a crawl's timing: how long each visit takes including its pause, and how many URLs it
// discovers.
type site struct {
	name   string
	pause  time.Duration
	visits int
	takes  func(i int) time.Duration
	finds  func(i int) int // new URLs with the ith visit
}

// estimates simulates the crawl and returns, at each tenth of its duration, the error of the estimate
// relative to the time that was really left.
func (s *site) estimates() (errors []float64) {
	now := time.Unix(1_700_000_000, 0)
	var m meter
	var at []time.Time
	var said []time.Duration
	known := 1
	for i := 0; i < s.visits; i++ {
		now = now.Add(s.takes(i))
		m.add(now)
		known = min(known+s.finds(i), s.visits)
		at, said = append(at, now), append(said, left(known-i-1, m.perSecond(now), s.pause))
	}
	began := at[0]
	for tenth := 1; tenth < 10; tenth++ {
		when := began.Add(now.Sub(began) * time.Duration(tenth) / 10)
		i, _ := slices.BinarySearchFunc(at, when, time.Time.Compare)
		real := now.Sub(at[i])
		errors = append(errors, (said[i]-real).Abs().Seconds()/real.Seconds())
	}
	return errors
}

func TestAboutLeft(t *testing.T) {
	steady := func(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }
	all := func(n int) func(int) int {
		return func(i int) int {
			if i == 0 {
				return n
			}
			return 0
		}
	}
	uneven := func(i int) time.Duration { return time.Second + time.Duration(i*7919%400)*time.Millisecond }
	sites := []site{
		{"a sitemap names all", time.Second, 600, uneven, all(600)},
		{"Crawl-delay 20", 20 * time.Second, 60, steady(20*time.Second + 80*time.Millisecond), all(60)},
		{"two pages at once found with each", time.Second, 500, uneven, func(int) int { return 3 }},
		{"fast", 0, 20000, func(i int) time.Duration { return time.Duration(2+i%5) * time.Millisecond },
			func(i int) int { return 40 * (1 - i%2) }},
		{"slower at night", time.Second, 900,
			func(i int) time.Duration { return time.Second + time.Duration(i/3)*time.Millisecond }, all(900)},
		{"answers of 5 s now and then", time.Second, 400,
			func(i int) time.Duration { return time.Second + time.Duration(i%10/9)*5*time.Second }, all(400)},
	}
	var every []float64
	for _, s := range sites {
		e := s.estimates()
		slices.Sort(e)
		t.Logf("%s: median error %.1f %%, worst %.1f %%", s.name, 100*e[len(e)/2], 100*e[len(e)-1])
		every = append(every, e...)
	}
	slices.Sort(every)
	if median := every[len(every)/2]; median > 0.1 {
		t.Errorf("median error of six crawls: %.1f %%", 100*median)
	}
}

func TestSlowRate(t *testing.T) {
	var m meter
	now := time.Unix(1_700_000_000, 0)
	for range 5 {
		m.add(now)
		now = now.Add(20 * time.Second)
	}
	if r := m.perSecond(now); r < 0.0499 || r > 0.0501 {
		t.Errorf("a visit each 20 s: %.4f/s", r)
	}
	if r := m.perSecond(now.Add(100 * time.Second)); r > 0.03 {
		t.Errorf("after a silence of two minutes: %.4f/s", r)
	}
}

func TestAboutLeftHasABound(t *testing.T) {
	for _, c := range []struct {
		n     int
		rate  float64
		pause time.Duration
	}{{1 << 40, 1e-9, 0}, {1 << 40, 1, 24 * time.Hour}} {
		if got := left(c.n, c.rate, c.pause); got < 365*24*time.Hour {
			t.Errorf("%d visits at %g a second with %s between them: %s", c.n, c.rate, c.pause, got)
		}
	}
}
