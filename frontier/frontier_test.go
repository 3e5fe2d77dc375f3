package frontier

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

const origin = "http://h"

func openDB(t testing.TB, path string) *bbolt.DB {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// stores maps each test's *Frontier to its *bbolt.DB.
var stores sync.Map

func open(t testing.TB, db *bbolt.DB) *Frontier {
	t.Helper()
	if err := db.Update(func(tx *bbolt.Tx) error {
		if tx.Bucket(bucketTop) != nil {
			return nil
		}
		return Create(tx)
	}); err != nil {
		t.Fatal(err)
	}
	f, err := Open(db.View, [16]byte{1}, false)
	if err != nil {
		t.Fatal(err)
	}
	stores.Store(f, db)
	return f
}

func flush(t testing.TB, f *Frontier) {
	t.Helper()
	db, _ := stores.Load(f)
	if err := db.(*bbolt.DB).Update(f.Flush); err != nil {
		t.Fatal(err)
	}
	f.Publish()
}

func link(path string, c Class) Link {
	return Link{URL: weburl.MustParse(origin + path), Class: c, How: "a href", Depth: 1}
}

func next(t testing.TB, f *Frontier, now time.Time) *Entry {
	t.Helper()
	e, err := f.Next(origin, now)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestLowerClassesGoFirstEachInOrderOfDiscovery(t *testing.T) {
	f := open(t, openDB(t, filepath.Join(t.TempDir(), "db")))
	for _, l := range []Link{link("/p1", Page), link("/p2", Page), link("/i1", Requisite), link("/robots.txt", Prerequisite), link("/s", Sitemap), link("/i2", Requisite)} {
		f.Add(l)
	}
	flush(t, f)
	for _, want := range []string{"/robots.txt", "/s", "/i1", "/i2", "/p1", "/p2"} {
		e := next(t, f, time.Now())
		if e == nil || e.URL.Path() != want {
			t.Fatalf("next = %v, want %s", e, want)
		}
		f.Finish(e, StateFetched, judge.Reason{})
	}
	if e := next(t, f, time.Now()); e != nil {
		t.Errorf("next = %v, want none", e.URL)
	}
}

func TestAURLIsAddedOnce(t *testing.T) {
	f := open(t, openDB(t, filepath.Join(t.TempDir(), "db")))
	if !f.Add(link("/a", Page)) || f.Add(link("/a", Page)) {
		t.Error("added twice before the commit")
	}
	flush(t, f)
	if f.Add(link("/a", Requisite)) || !f.Known(weburl.MustParse(origin+"/a")) {
		t.Error("added twice after the commit")
	}
}

func TestASoftlyDisregardedURLMayBeQueuedLater(t *testing.T) {
	dir := t.TempDir()
	db := openDB(t, filepath.Join(dir, "db"))
	f := open(t, db)
	soft := link("/a", Disregarded)
	soft.Soft, soft.Reason.Rule = true, judge.NoFollow
	f.Add(soft)
	flush(t, f)
	f = open(t, db)
	u := weburl.MustParse(origin + "/a")
	if f.Known(u) {
		t.Error("a softly disregarded URL is known")
	}
	if f.Add(soft) {
		t.Error("disregarded twice")
	}
	if !f.Add(link("/a", Page)) {
		t.Error("not queued after a link that may be followed")
	}
	flush(t, f)
	found, err := f.Find(u)
	if err != nil || len(found) != 2 || found[0].Reason.Rule != judge.NoFollow || found[1].State != StateQueued {
		t.Errorf("find = %+v, %v", found, err)
	}
}

// Repeated Find calls on an open frontier give the same results as a single one on a newly opened
// frontier, for URLs from before the fingerprints were sorted and after.
func TestFindWhileURLsCome(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "db"))
	f := open(t, db)
	for n := range 4 * manyNew {
		l := link("/"+strconv.Itoa(n), []Class{Page, Requisite, Disregarded}[n%3])
		if l.Soft = l.Class == Disregarded && n%2 == 0; l.Class == Disregarded {
			l.Reason.Rule = judge.NoFollow
		}
		f.Add(l)
		if n%5000 != 4999 {
			continue
		}
		f.Add(link("/"+strconv.Itoa(n/6*6+2), Page)) // added before as a softly disregarded URL
		flush(t, f)
		for _, at := range []int{0, 1, 2, n / 2, n - 2, n - 1, n} {
			u := weburl.MustParse(origin + "/" + strconv.Itoa(at))
			got, err := f.Find(u)
			once, err2 := open(t, db).Find(u)
			if err != nil || err2 != nil || len(got) == 0 || len(got) != len(once) {
				t.Fatalf("%s after %d: %d finds, %d by one who asks once; %v %v", u, n, len(got), len(once), err, err2)
			}
			for i := range got {
				if got[i].ID != once[i].ID || got[i].URL != u || got[i].State != once[i].State || i > 0 && got[i].ID <= got[i-1].ID {
					t.Errorf("%s: %+v, want %+v", u, got[i], once[i])
				}
			}
		}
		if got, err := f.Find(weburl.MustParse(origin + "/none")); len(got) > 0 || err != nil {
			t.Errorf("found %v, %v", got, err)
		}
	}
	if f.seen.index.upTo == 0 {
		t.Error("the fingerprints were never sorted")
	}
}

// The memory in which many links are staged is released once they are on disk.
func TestManyLinksAreGivenBack(t *testing.T) {
	f := open(t, openDB(t, filepath.Join(t.TempDir(), "db")))
	for _, n := range []int{blockSize / 2, 100 * blockSize} {
		for i := range n {
			f.Add(link("/"+strconv.Itoa(n)+"/"+strconv.Itoa(i), Page))
		}
		flush(t, f)
		for key, staged := range f.staged {
			if cap(staged) > blockSize {
				t.Errorf("after %d links %d places of %+v are kept", n, cap(staged), key)
			}
			for _, l := range staged[:cap(staged)] {
				if !l.URL.IsZero() {
					t.Fatalf("after %d links %s is kept", n, l.URL)
				}
			}
		}
	}
}

func BenchmarkFind(b *testing.B) {
	const urls = 1_000_000
	f := open(b, openDB(b, filepath.Join(b.TempDir(), "db")))
	for n := range urls {
		f.Add(link("/"+strconv.Itoa(n), Page))
		if n%10_000 == 9_999 {
			flush(b, f)
		}
	}
	u := weburl.MustParse(origin + "/" + strconv.Itoa(urls/2))
	for _, first := range []bool{true, false} {
		b.Run(map[bool]string{true: "once", false: "again"}[first], func(b *testing.B) {
			for range manyFinds + 2 {
				_, _ = f.Find(u)
			}
			for b.Loop() {
				if first {
					f.seen.index = index{}
				}
				if found, err := f.Find(u); len(found) != 1 || err != nil {
					b.Fatal(found, err)
				}
			}
		})
	}
}

// A softly disregarded URL is handed out once, whatever admits it: a setting, a link, or both in either
// order.
func TestASoftlyDisregardedURLIsHandedOutOnce(t *testing.T) {
	for _, way := range []string{"setting", "link", "setting link", "link setting"} {
		t.Run(way, func(t *testing.T) {
			db := openDB(t, filepath.Join(t.TempDir(), "db"))
			f := open(t, db)
			deep := link("/deep", Disregarded)
			deep.Soft, deep.Reason.Rule = true, judge.Depth
			f.Add(deep)
			flush(t, f)
			let := 0
			for _, by := range strings.Fields(way) {
				f = open(t, db)
				again := false
				if by == "link" {
					again = f.Add(link("/deep", Page))
				} else {
					var held []Found
					if err := f.Each(Disregarded, func(found Found) error { held = append(held, found); return nil }); err != nil {
						t.Fatal(err)
					}
					for _, found := range held {
						again = f.AddAgain(found)
					}
				}
				if again {
					let++
				}
				flush(t, f)
				if !f.Known(deep.URL) {
					t.Errorf("after the %s it is not known", by)
				}
				for e := next(t, f, time.Now()); e != nil; e = next(t, f, time.Now()) {
					f.Finish(e, StateFetched, judge.Reason{})
					flush(t, f)
				}
			}
			if c := f.Counts(); let != 1 || c.Fetched != 1 || c.Discovered != 1 || c.Disregarded != 0 {
				t.Errorf("let through %d times, %+v", let, c)
			}
		})
	}
}

func TestRetriesComeWhenDue(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "db"))
	f := open(t, db)
	f.Add(link("/a", Page))
	flush(t, f)
	now := time.Unix(1000, 0)
	e := next(t, f, now)
	e.Attempts++
	f.Retry(e, now.Add(time.Minute))
	flush(t, f)
	if next(t, f, now) != nil {
		t.Error("given out before it is due")
	}
	if w, ok := f.Waiting(origin); !ok || !w.Due.Equal(now.Add(time.Minute)) || w.URL != e.URL || w.More != 0 {
		t.Errorf("waiting = %+v, %v", w, ok)
	}
	f = open(t, db)
	e = next(t, f, now.Add(time.Minute))
	if e == nil || e.Attempts != 1 || e.URL.Path() != "/a" {
		t.Fatalf("after a restart: %+v", e)
	}
	if next(t, f, now.Add(time.Minute)) != nil {
		t.Error("given out twice")
	}
	f.Finish(e, StateFetched, judge.Reason{})
	flush(t, f)
	f = open(t, db)
	if next(t, f, now.Add(time.Hour)) != nil {
		t.Error("given out after it was finished")
	}
	if _, ok := f.Waiting(origin); ok {
		t.Error("still waiting")
	}
}

// TestEveryURLOnceAcrossRestarts works through a growing frontier with restarts at random moments that
// lose what is in flight, as kill -9 does.
func TestEveryURLOnceAcrossRestarts(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 0))
		db := openDB(t, filepath.Join(t.TempDir(), "db"))
		f := open(t, db)
		f.Add(link("/0", Page))
		flush(t, f)
		added, done := 1, map[string]int{}
		var flight []*Entry
		for steps := 0; steps < 100000; steps++ {
			switch {
			case rng.IntN(60) == 0:
				flush(t, f)
			case rng.IntN(150) == 0:
				flush(t, f) // what is finished gets committed; what is in flight is lost
				f, flight = open(t, db), nil
			case len(flight) < 8 && rng.IntN(2) == 0:
				if e := next(t, f, time.Now()); e != nil {
					flight = append(flight, e)
				}
			case len(flight) > 0:
				i := rng.IntN(len(flight))
				e := flight[i]
				flight = append(flight[:i], flight[i+1:]...)
				done[e.URL.Path()]++
				f.Finish(e, StateFetched, judge.Reason{})
				for range rng.IntN(4) {
					if added < 700 {
						c := Page
						if rng.IntN(3) == 0 {
							c = Requisite
						}
						f.Add(link(fmt.Sprintf("/%d", added), c))
						added++
					}
				}
			}
			if len(flight) == 0 && f.Counts().Queued() == 0 && len(f.staged) > 0 && steps > 1000 {
				break
			}
		}
		flush(t, f)
		for {
			e := next(t, f, time.Now())
			if e == nil {
				break
			}
			done[e.URL.Path()]++
			f.Finish(e, StateFetched, judge.Reason{})
		}
		for _, e := range flight {
			f.Finish(e, StateFetched, judge.Reason{})
			done[e.URL.Path()]++
		}
		flush(t, f)
		if len(done) != added {
			t.Fatalf("seed %d: %d of %d URLs done", seed, len(done), added)
		}
		for u, n := range done {
			if n != 1 {
				t.Fatalf("seed %d: %s done %d times", seed, u, n)
			}
		}
		if c := f.Counts(); c.Fetched != added || c.Queued() != 0 {
			t.Fatalf("seed %d: counts %+v, want %d fetched", seed, c, added)
		}
	}
}

func TestPathLeadsFromTheSeed(t *testing.T) {
	f := open(t, openDB(t, filepath.Join(t.TempDir(), "db")))
	f.Add(Link{URL: weburl.MustParse(origin + "/"), Class: Page, How: "seed"})
	flush(t, f)
	via := next(t, f, time.Now()).ID
	for i := range 3 {
		l := link(fmt.Sprintf("/%d", i), Page)
		l.Via = via
		f.Add(l)
		flush(t, f)
		found, err := f.Find(l.URL)
		if err != nil || len(found) != 1 {
			t.Fatalf("find %s: %v, %v", l.URL, found, err)
		}
		via = found[0].ID
	}
	path := f.Path(via)
	if len(path) != 4 || path[0].How != "seed" || path[3].URL.Path() != "/2" {
		t.Errorf("path = %+v", path)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, known := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(known), func(b *testing.B) {
			f := open(b, openDB(b, filepath.Join(b.TempDir(), "db")))
			u := func(i int) weburl.URL {
				return weburl.FromCanonical(fmt.Sprintf("http://h/dir%d/page-%d.html", i%1000, i))
			}
			for i := range known {
				f.Add(Link{URL: u(i), Class: Page})
				if i%5000 == 0 {
					flush(b, f)
				}
			}
			rng := rand.New(rand.NewPCG(1, 2))
			links := make([]weburl.URL, 1<<16)
			for i := range links {
				links[i] = u(rng.IntN(known * 10 / 9))
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				f.Add(Link{URL: links[i&(1<<16-1)], Class: Page})
				if i++; i%5000 == 0 {
					flush(b, f)
				}
			}
		})
	}
}

// BenchmarkNext takes URLs out and finishes them, with a commit for every hundred.
func BenchmarkNext(b *testing.B) {
	f := open(b, openDB(b, filepath.Join(b.TempDir(), "db")))
	now, id := time.Now(), 0
	fill := func() {
		for range 50_000 {
			f.Add(Link{URL: weburl.FromCanonical(fmt.Sprintf("%s/dir%d/page-%d.html", origin, id%1000, id)), Class: Page})
			id++
		}
		flush(b, f)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%50_000 == 0 {
			b.StopTimer()
			fill()
			b.StartTimer()
		}
		f.Finish(next(b, f, now), StateFetched, judge.Reason{})
		if i%100 == 99 {
			flush(b, f)
		}
	}
}

// Two workers find a URL at once: the allowed link may be counted before the nofollow one.
func TestOverruledBeforeItIsCounted(t *testing.T) {
	f := open(t, openDB(t, filepath.Join(t.TempDir(), "db")))
	soft := link("/a", Disregarded)
	soft.Soft, soft.Reason.Rule = true, judge.NoFollow
	fp := f.fingerprint(soft.URL.String())
	f.seen.add(fp, true)
	f.Add(link("/a", Page))
	flush(t, f)
	f.put(soft, fp)
	flush(t, f)
	if c := f.Counts(); c.Disregarded != 0 || c.Discovered != 1 {
		t.Errorf("got %+v, want one URL, which is queued", c)
	}
}

// At the end of a run each URL is present once, in the state that counts.
func TestOverruledEntriesAreDropped(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "db"))
	f := open(t, db)
	soft := func(path string) Link {
		l := link(path, Disregarded)
		l.Soft, l.Reason.Rule = true, judge.NoFollow
		return l
	}
	f.Add(soft("/a"))
	f.Add(soft("/b"))
	f.Add(link("/guess", Speculative))
	f.Add(link("/guess2", Speculative))
	f.seen.add(f.fingerprint(soft("/late").URL.String()), true) // two workers find it at once
	f.Add(link("/late", Page))
	flush(t, f)
	f.put(soft("/late"), f.fingerprint(soft("/late").URL.String()))
	for range 2 {
		e, err := f.Next(origin, time.Now())
		if err != nil || e.Class != Speculative {
			t.Fatalf("next is %+v, %v, want a guess", e, err)
		}
		f.Dismissed(e.URL)
		f.Finish(e, StateDisregarded, judge.Reason{Rule: judge.Guess})
	}
	flush(t, f)
	f.Add(link("/a", Page))
	f.Add(link("/guess", Page))
	flush(t, f)
	f.DropOverruled()
	flush(t, f)
	c := f.Counts()
	want := judge.Tally{{Rule: judge.NoFollow}: 1, {Rule: judge.Guess}: 1}
	if c.Discovered != 5 || c.Disregarded != 2 || !maps.Equal(c.Reasons, want) {
		t.Errorf("counts %+v", c)
	}
	got := map[string]int{}
	sum, err := f.Audit(func(found Found) { got[found.URL.Path()+" "+found.State.String()]++ })
	all := map[string]int{"/a queued": 1, "/b disregarded": 1, "/late queued": 1, "/guess queued": 1,
		"/guess2 disregarded": 1}
	if err != nil || sum.Discovered != 5 || sum.Disregarded != 2 || !maps.Equal(got, all) {
		t.Errorf("audit %+v, %v, %v", sum, got, err)
	}
	for _, path := range []string{"/a", "/late", "/guess"} {
		found, err := f.Find(weburl.MustParse(origin + path))
		if err != nil || len(found) != 2 || found[0].State != StateDisregarded || found[1].State != StateQueued {
			t.Errorf("find %s = %+v, %v", path, found, err)
		}
	}
	if f = open(t, db); f.Counts().Disregarded != 2 {
		t.Errorf("opened again: %+v", f.Counts())
	}
}
