package crawler_test

import (
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/status"
)

func TestVisitsInFlightAreShownWithTheirStep(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]page{"/": html("x")}, func(t *testing.T, s *site) {
		s.slower(5 * time.Second)
		var seen []status.InFlight
		o := s.options()
		o.Watch = func(st status.Status) {
			for _, v := range st.InFlight {
				if v.Since.Before(st.Updated) { // a step that begins at this very moment has no duration yet
					seen = append(seen, v)
				}
			}
		}
		crawlLong(t, t.TempDir(), o)
		long := map[string]time.Duration{}
		for _, v := range seen {
			if v.Step != "waiting for an answer" {
				t.Errorf("%+v: no other step takes time here", v)
			}
			long[v.URL] += time.Second // one report a second
		}
		for _, target := range []string{"/", "/robots.txt"} {
			if d := long[s.URL+target]; d < 3*time.Second || d > 6*time.Second {
				t.Errorf("%s was shown for %v, want 5 s", target, d)
			}
		}
	})
}

func TestMaxTimeBoundsWhatIsInFlight(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]page{"/robots.txt": text("")}, func(t *testing.T, s *site) {
		s.slower(3 * time.Second)
		o, dir := s.options(), t.TempDir()
		o.Limits.Time = 4 * time.Second
		o.Watch = func(status.Status) { s.slower(10 * time.Minute) } // from the second report on
		began := time.Now()
		r := crawlLong(t, dir, o)
		if took := time.Since(began); took < 13*time.Second || took > 15*time.Second {
			t.Errorf("took %v, want 4 s and 10 s for what is in flight", took)
		}
		if r.Ending != crawler.Limited || r.Why != "max-time 4s is over" {
			t.Errorf("ended as %v: %s", r.Ending, r.Why)
		}
		if r.Counts.Queued() == 0 {
			t.Error("what was dropped is not queued any more")
		}
		o.Watch, o.Limits.Time = nil, 0
		s.slower(0)
		s.set("/", html("x"))
		if r = crawlLong(t, dir, o); r.Ending != crawler.Done || r.Counts.Fetched != 2 {
			t.Errorf("resumed, it ended as %v: %s, %d fetched", r.Ending, r.Why, r.Counts.Fetched)
		}
	})
}
