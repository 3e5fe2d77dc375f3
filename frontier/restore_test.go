package frontier

import (
	"path/filepath"
	"testing"
	"time"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// A restored frontier: fetched URLs are finished, whatever rules with a memory say of them, and a
// restart hands out the remaining URLs only.
func TestRestoredURLsAreDoneAndTheOthersWait(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "db"))
	f := open(t, db)
	f.Judge(&judge.Settings{Traps: judge.Traps{Pattern: 2}})
	ids := map[string]uint64{}
	f.OnPlaced(func(id uint64, u weburl.URL) { ids[u.Path()] = id })
	fetched := []string{"/1", "/2", "/3", "/4"}
	for _, path := range fetched {
		f.Restore(link(path, Page))
	}
	flush(t, f)
	for _, path := range fetched {
		if found, ok := f.Get(ids[path]); !ok || found.URL.Path() != path || found.Class != Page {
			t.Fatalf("%s has the id %d, which is %+v", path, ids[path], found)
		}
		f.Settle(ids[path], StateFetched, judge.Reason{})
	}
	if f.Add(link("/1", Page)) {
		t.Error("a restored URL is added again")
	}
	f.Add(link("/5", Page)) // over the budget, which the restored URLs have used up
	f.Add(link("/left", Page))
	flush(t, f)
	if err := f.Advance(); err != nil { // as opening it again would
		t.Fatal(err)
	}
	flush(t, f)
	if e := next(t, f, time.Now()); e == nil || e.URL.Path() != "/left" {
		t.Fatalf("next = %v, want /left", e)
	} else {
		f.Finish(e, StateFetched, judge.Reason{})
	}
	flush(t, f)
	if e := next(t, f, time.Now()); e != nil {
		t.Errorf("next = %v, want none", e.URL)
	}
	if got := open(t, db).Origins(); len(got) != 0 {
		t.Errorf("%q have work left", got)
	}
	if c := f.Counts(); c.Fetched != 5 || c.Disregarded != 1 || c.Queued() != 0 {
		t.Errorf("counts %+v", c)
	}
}
