package fleet

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"curtsy/fleet/engine"
	"curtsy/fleet/store"
	"curtsy/internal/weburl"
)

// BenchmarkKnownSites measures a tick of the loop and a status with 300 sites due: the cost
// must not grow with the number of known sites.
func BenchmarkKnownSites(b *testing.B) {
	for _, n := range []int{2_000, 20_000, 200_000} {
		book := knownSites(n)
		b.Run(fmt.Sprint("next/", n), func(b *testing.B) {
			for b.Loop() {
				e, _, ok := book.next()
				if !ok {
					b.Fatal("nothing is due")
				}
				book.again(e)
			}
		})
		b.Run(fmt.Sprint("change/", n), func(b *testing.B) {
			rev := uint64(n)
			for b.Loop() {
				rev++
				book.follow(siteEntry(int(rev)%n, n, rev), true)
			}
		})
		b.Run(fmt.Sprint("each/", n), func(b *testing.B) {
			for b.Loop() {
				book.each("", func(*Record) bool { return true })
			}
		})
	}
}

var schedule0 = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func siteEntry(i, n int, rev uint64) engine.Entry {
	s := NewSite(weburl.MustParse(fmt.Sprintf("http://s%d.example/", i)))
	s.Every, s.Added, s.Config = 7*24*time.Hour, schedule0, []byte("delay: 1s\nlimits: {max_pages: 100}\n")
	r := Record{Site: s, Run: store.Run{Began: schedule0, Ended: schedule0, Ending: "finished"}}
	if r.Due = schedule0.Add(8 * 24 * time.Hour); i < 300 {
		r.Due = schedule0
	}
	value, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return engine.Entry{Key: siteKey + s.Name, Value: value, Rev: rev}
}

func knownSites(n int) *book {
	b := newBook(nil, "w1", func() time.Time { return schedule0.Add(24 * time.Hour) })
	for i := range n {
		b.follow(siteEntry(i, n, uint64(i+1)), true)
	}
	return b
}

// With 20,000 known sites, those that are due are found without looking at the others, longest
// due first and each once; a site that changed is not found by its old state.
func TestTheQueueFindsWhatIsDue(t *testing.T) {
	b := knownSites(20_000)
	seen := map[string]bool{}
	for {
		e, r, ok := b.next()
		if !ok {
			break
		}
		if seen[e.name] || !r.Due.Equal(schedule0) {
			t.Fatalf("%s, due %s", e.name, r.Due)
		}
		seen[e.name] = true
		b.park("k", e)
	}
	if len(seen) != 300 {
		t.Errorf("%d are due, want 300", len(seen))
	}
	gone := siteEntry(0, 0, 30_000)
	gone.Value = nil
	b.follow(gone, true)
	free := false
	b.unpark(func(*Record) string {
		if free {
			return ""
		}
		return "k"
	})
	if _, _, ok := b.next(); ok {
		t.Error("what is blocked was found")
	}
	free = true
	for i := range 299 {
		b.unpark(func(*Record) string { return "" })
		e, _, ok := b.next()
		if !ok || e.name == "s0.example" {
			t.Fatalf("number %d: %v %s", i, ok, e.name)
		}
	}
	b.unpark(func(*Record) string { return "" })
	if e, _, ok := b.next(); ok {
		t.Errorf("%s was found twice, or after it was removed", e.name)
	}
}
