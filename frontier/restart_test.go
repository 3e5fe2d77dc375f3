package frontier

import (
	"path/filepath"
	"testing"

	"curtsy/frontier/judge"
	"time"
)

// With several URLs in flight, one may be put off while an older one is still being fetched. After a
// kill it must not be handed out twice.
func TestARetryBehindOneInFlightComesOnceAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db := openDB(t, path)
	f := open(t, db)
	for _, p := range []string{"/a", "/b", "/c"} {
		f.Add(link(p, Page))
	}
	flush(t, f)
	now := time.Now()
	next(t, f, now) // /a stays in flight
	b := next(t, f, now)
	b.Attempts++
	f.Retry(b, now.Add(time.Minute))
	flush(t, f)
	db.Close()

	f = open(t, openDB(t, path))
	var got []string
	for now = now.Add(time.Hour); ; {
		e := next(t, f, now)
		if e == nil {
			break
		}
		if e.URL.Path() == "/b" && e.Attempts != 1 {
			t.Errorf("/b comes with %d attempts, want 1", e.Attempts)
		}
		got = append(got, e.URL.Path())
		f.Finish(e, StateFetched, judge.Reason{})
		flush(t, f)
	}
	if len(got) != 3 {
		t.Errorf("after the restart came %q, want each once", got)
	}
	if c := f.Counts(); c.Fetched != 3 || c.Queued() != 0 {
		t.Errorf("counts %+v, want 3 fetched, none queued", c)
	}
	if len(f.Origins()) != 0 {
		t.Errorf("%v still have entries", f.Origins())
	}
}

// A retry due later than any retry may be was scheduled before the clock was set back: it is due now.
func TestARetryOfATimeThatCannotBeIsDue(t *testing.T) {
	f := open(t, openDB(t, filepath.Join(t.TempDir(), "db")))
	f.WaitAtMost(time.Minute)
	f.Add(link("/a", Page))
	flush(t, f)
	now := time.Now()
	f.Retry(next(t, f, now), now.Add(30*time.Second))
	flush(t, f)
	for _, tt := range []struct {
		at  time.Duration
		due bool
	}{{0, false}, {29 * time.Second, false}, {-29 * time.Second, false}, {-24 * time.Hour, true}} {
		e := next(t, f, now.Add(tt.at))
		if (e != nil) != tt.due {
			t.Errorf("at %v it is due: %t, want %t", tt.at, e != nil, tt.due)
		}
	}
}
