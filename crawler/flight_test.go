package crawler

import (
	"math"
	"testing"
	"time"

	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/storage"
)

func visitTo(class frontier.Class) *job {
	u := weburl.MustParse("http://a.example/")
	return &job{Attempt: visit.Attempt{URL: u, Entry: &frontier.Entry{Link: frontier.Link{URL: u, Class: class}}}}
}

// The counts of flight at each step of two visits.
func TestFlight(t *testing.T) {
	f := newFlight(&Options{Pace: politeness.Options{Concurrency: 2}, Limits: Limits{Pages: 3}})
	page, second, robots := visitTo(frontier.Page), visitTo(frontier.Page), visitTo(frontier.Prerequisite)
	none := &outcome{}
	for _, step := range []struct {
		what                   string
		do                     func()
		start, page, end, idle bool // page: with one page committed
		open                   int
	}{
		{"nothing is on its way", func() {}, true, true, true, true, 0},
		{"a page is asked for", func() { f.launch(page) }, true, true, false, false, 1},
		{"two requests are as many as there may be", func() { f.launch(robots) }, false, true, false, false, 2},
		{"the page has come", func() { f.answered() }, true, true, false, false, 2},
		{"it waits for its commit", func() { f.handed() }, true, true, false, false, 2},
		{"what it holds is over the bound", func() { f.hold(maxHeld) }, false, true, false, false, 2},
		{"and under it", func() { f.hold(-maxHeld) }, true, true, false, false, 2},
		{"a URL is dismissed", func() { f.dismiss() }, true, true, false, false, 3},
		{"the robots.txt waits, too", func() { f.answered(); f.handed() }, true, true, false, true, 3},
		{"another page may reach max-pages", func() { f.launch(second) }, true, false, false, false, 4},
		{"which is dropped", func() { f.answered(); f.dropped(second) }, true, true, false, true, 3},
		{"all is committed, and nobody knows", func() {
			f.committed([]*outcome{{job: page}, {job: robots}, none}, map[string]bool{"http://b.example": true})
		}, true, true, false, true, 0},
	} {
		step.do()
		open, _ := f.inProcess(0)
		got := [...]bool{f.mayStart(math.MaxInt64), f.mayStartPage(1), f.mayEnd(), f.mayCommit()}
		want := [...]bool{step.start, step.page, step.end, step.idle}
		if got != want || open != step.open {
			t.Errorf("%s: may start, start a page, end, commit: %v, want %v; %d open, want %d", step.what, got, want,
				open, step.open)
		}
	}
	if n := f.take(); len(n.jobs) != 2+1 || !n.origins["http://b.example"] {
		t.Errorf("news %+v", n)
	}
	if !f.mayEnd() {
		t.Error("nothing is on its way, and the loop knows: it may end")
	}
}

// When the committer falls behind, no new visit starts.
func TestFlightIsBounded(t *testing.T) {
	f := newFlight(&Options{Pace: politeness.Options{Concurrency: 1}})
	n := 0
	for ; f.mayStart(math.MaxInt64) && n < 1e6; n++ {
		f.launch(visitTo(frontier.Page))
		f.answered()
	}
	if n != storage.MaxGroup+1 {
		t.Errorf("%d visits wait for their commit, want %d at most", n, storage.MaxGroup+1)
	}
}

func TestInFlightIsListedWithItsStepOldestFirst(t *testing.T) {
	f := newFlight(&Options{Pace: politeness.Options{Concurrency: 9}})
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"reading", "connecting", "committing"} {
		j := visitTo(frontier.Page)
		j.at(name, began.Add(time.Duration(-i)*time.Second))
		f.launch(j)
	}
	n, list := f.inProcess(2)
	if n != 3 || len(list) != 2 || list[0].Step != "committing" || list[1].Step != "connecting" ||
		!list[1].Since.Equal(began.Add(-time.Second)) {
		t.Errorf("%d in flight: %+v", n, list)
	}
}

// Origins are served in the order of their times, then first come, first served; all hosts outside the
// site share one pace.
func TestSchedule(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := newSchedule(&Options{Pace: politeness.Options{Delay: time.Second, Concurrency: 1}})
	site := &origin{name: "site", ours: true}
	a, b, late := &origin{name: "a"}, &origin{name: "b"}, &origin{name: "late"}
	s.enqueue(a)
	s.enqueue(b)
	s.enqueue(site)
	s.at(late, now.Add(time.Minute), "a pause")
	s.enqueue(a) // queued again: after b
	var got []string
	for o := s.next(now); o != nil; o = s.next(now) {
		got = append(got, o.name)
		if !o.ours {
			s.others.pace.Start(now)
			s.others.pace.Done(now, politeness.Result{})
		}
		now = now.Add(time.Second / 2)
	}
	if want := []string{"site", "b"}; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
	w, ok := s.earliest(now)
	if !ok || w.why != "other hosts than the site's: one request per 1s to all of them together" ||
		w.until.Sub(now) != time.Second/2 {
		t.Errorf("waits for %q until %v", w.why, w.until.Sub(now))
	}
	if o := s.next(w.until); o != a {
		t.Errorf("then got %v, want a", o)
	}
	s.dequeue(late)
	s.dequeue(late)
	if _, ok := s.earliest(now); ok {
		t.Error("something waits in empty lanes")
	}
}

// A pace changed while the crawl runs also applies to the other hosts together.
func TestSteeringHoldsForOtherHosts(t *testing.T) {
	o := Options{Pace: politeness.Options{Delay: time.Second}}
	c := &Crawl{opts: o, schedule: newSchedule(&o)}
	for _, delay := range []time.Duration{5 * time.Second, time.Second / 2, 0} {
		c.steer(Steering{Delay: delay})
		now := time.Unix(1e9, 0)
		c.schedule.others.pace.Start(now)
		c.schedule.others.pace.Done(now, politeness.Result{})
		if got := max(c.schedule.others.pace.Next(now).At.Sub(now), 0); got != delay {
			t.Errorf("the next one after %v, want %v", got, delay)
		}
	}
}
