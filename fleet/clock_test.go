package fleet

import (
	"flag"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"curtsy/crawler/status"
	"curtsy/fleet/store"
)

// TestMain lets more tests wait at a time than there are processors.
func TestMain(m *testing.M) {
	flag.Set("test.parallel", "8")
	os.Exit(m.Run())
}

// timeOfDay is the clock of a worker, which a test sets.
type timeOfDay struct{ atomic.Pointer[time.Time] }

func (d *timeOfDay) set(s string) {
	t, err := time.Parse(time.DateTime, s)
	if err != nil {
		panic(err)
	}
	d.Store(&t)
}

func (d *timeOfDay) read() time.Time { return *d.Load() }

// The clocks of two workers are set hours forward and back during a run: the run is not taken
// over, and each calendar date brings one run.
func TestTheTimeOfDayIsSetDuringARun(t *testing.T) {
	long(t)
	t.Parallel()
	f := newFleet(t)
	var one, two timeOfDay
	one.set("2026-03-01 02:50:00")
	two.set("2026-03-01 02:50:00")
	w1, _ := f.worker("w1", func(o *Options) { o.Now = one.read })
	w2, _ := f.worker("w2", func(o *Options) { o.Now, o.Alone, o.Slots = two.read, false, 4 })
	s := newSite(t, 4)
	s.hold = make(chan struct{})
	f.add(s, func(s *Site) { s.Cron = "0 3 * * *" })
	f.isState(s, "scheduled")
	one.set("2026-03-01 03:01:00")
	two.set("2026-03-01 03:01:00")
	f.until("the site is asked", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.asked["/2"] == 1 })
	for _, times := range [][2]string{{"2026-03-01 08:00:00", "2026-02-28 22:00:00"},
		{"2026-02-28 22:00:00", "2026-03-03 08:00:00"}, {"2026-02-28 22:00:00", "2026-02-28 23:00:00"}} {
		one.set(times[0])
		two.set(times[1])
		time.Sleep(100 * time.Millisecond) // each worker looks at the list several times
		if got := f.state(s.name()); got != "running" {
			t.Errorf("at %s by one clock and %s by the other the site is %s, want running", times[0], times[1], got)
		}
	}
	s.mu.Lock()
	close(s.hold)
	s.hold = nil
	s.mu.Unlock()
	f.isState(s, "scheduled")
	if got := f.why(s.name()); !strings.Contains(got, "waiting for 2026-03-02 03:00:00 UTC") {
		t.Errorf("the run of March 1 ended on February 28, as the clock says; why says %q", got)
	}
	one.set("2026-03-02 02:59:00") // both clocks reach this date for the second time
	two.set("2026-03-01 03:30:00")
	time.Sleep(100 * time.Millisecond)
	two.set("2026-03-02 03:01:00")
	f.until("the next date brings a run", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.asked["/1"] == 2 })
	f.isState(s, "scheduled")
	for _, site := range f.ask(Ask{Do: "status"}).Sites {
		if site.Epoch != 2 {
			t.Errorf("it was claimed %d times for two dates", site.Epoch)
		}
	}
	for _, w := range []*Worker{w1, w2} {
		if g := w.Gauges(); g.Margin <= 0 || g.Takeovers != 0 || g.Fenced != 0 {
			t.Errorf("gauges of %s: %+v", w.o.Name, g)
		}
	}
	f.sound(s, 4)
}

// A worker whose clock is behind also starts what is due at once.
func TestWhatIsDueAtOnceAsksNoClock(t *testing.T) {
	ahead := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := ahead.Add(-5 * time.Hour)
	for what, each := range map[string]struct {
		site Site
		run  store.Run
		due  bool
	}{
		"a new site":                 {site: Site{Added: ahead}, due: true},
		"a new site with a calendar": {site: Site{Added: ahead, Cron: "0 3 * * *"}},
		"a run that was cut off":     {site: Site{Added: now}, run: store.Run{Began: ahead}, due: true},
		"a run that was stopped": {site: Site{Added: now}, run: store.Run{Began: ahead, Ended: ahead,
			Ending: "stopped"}, due: true},
		"a run that is to come again": {site: Site{Added: now, Every: time.Hour},
			run: store.Run{Began: now, Ended: now, Ending: "finished"}},
		"a site that is paused": {site: Site{Added: ahead, Paused: true}},
	} {
		r := Record{Site: each.site, Run: each.run}
		r.Due = r.next(&r.Run)
		if got := r.isDue(now); got != each.due {
			t.Errorf("%s: due %v, want %v", what, got, each.due)
		}
	}
}

// The time until which a site waits is given once, and intervals in the usual notation.
func TestWordsOfWhy(t *testing.T) {
	due := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	for _, each := range []struct{ waitsFor, want string }{
		{"visit-time (robots.txt line 2), until 2026-03-01 03:00 UTC",
			"1 fetched, 2 queued; it waits: visit-time (robots.txt line 2), until 2026-03-01 03:00 UTC"},
		{"crawl-delay 30s (robots.txt line 2)",
			"1 fetched, 2 queued; it waits: crawl-delay 30s (robots.txt line 2), until " + at(due.Local())},
	} {
		if got := inWords(&status.Status{Fetched: 1, Queued: 2, Pace: status.Pace{WaitingFor: each.waitsFor,
			NextDue: &due}}); got != each.want {
			t.Errorf("got %q, want %q", got, each.want)
		}
	}
	for d, want := range map[time.Duration]string{7 * 24 * time.Hour: "7d", 36 * time.Hour: "36h",
		90 * time.Minute: "90m", 90 * time.Second: "1m30s"} {
		if got := interval(d); got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}
