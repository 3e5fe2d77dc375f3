package frontier

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/frontier/judge"
	"curtsy/internal/mapped"
	"curtsy/internal/weburl"
)

// TestScale fills a frontier with CURTSY_TEST_SCALE URLs (10000000 for the figures in
// docs/performance.md) as a crawl does: pages of 55 random-looking links, nine of ten already known,
// and a commit for every hundred pages. It prints its measurements. Without the variable it is a small
// test of the same kind.
func TestScale(t *testing.T) {
	total, err := strconv.Atoi(os.Getenv("CURTSY_TEST_SCALE"))
	if err != nil {
		total = 100_000
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(192 << 20)) // as a crawl does
	path := filepath.Join(t.TempDir(), "db")
	db := openDB(t, path)
	f := open(t, db)
	f.Judge(&judge.Settings{Traps: judge.DefaultTraps()})
	rng := rand.New(rand.NewPCG(1, 2))
	base := weburl.MustParse("http://site.example/")
	found, judged, pages := 0, 0, 0
	var early, late time.Duration
	var earlyN, lateN int
	refs, urls, fresh := make([]string, 55), make([]weburl.URL, 55), []News(nil)
	for found < total {
		for i := range refs { // not timed, since a site would produce these
			n := rng.IntN(found*10/9 + 100)
			if i%10 == 0 {
				n = found + i
			}
			refs[i] = sitePath(n)
		}
		start := time.Now()
		for i, ref := range refs {
			if urls[i], err = base.Resolve(ref); err != nil {
				t.Fatal(err)
			}
		}
		judged += len(refs)
		fresh = f.Unknown(fresh[:0], len(refs), func(i int) weburl.URL { return urls[i] })
		for _, n := range fresh {
			if f.Add(Link{URL: urls[n.Index], Class: Page, Via: uint64(pages), Depth: 3, How: "a href"}) {
				found++
			}
		}
		if pages++; pages%100 == 0 {
			flush(t, f)
		}
		if pages%10_000 == 0 {
			if err := db.View(func(tx *bbolt.Tx) error { mapped.Release(db.Info().Data, tx.Size()); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		took := time.Since(start)
		switch {
		case found < 100_000:
			early, earlyN = early+took, earlyN+len(refs)
		case found > total*9/10:
			late, lateN = late+took, lateN+len(refs)
		}
	}
	flush(t, f)
	before, file := memoryUsed()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	f = nil
	runtime.GC()
	start := time.Now()
	db = openDB(t, path)
	f = open(t, db)
	reopened := time.Since(start)
	if got := f.Counts().Discovered; got != found {
		t.Errorf("%d URLs after reopening, want %d", got, found)
	}
	e := next(t, f, time.Now()) // no entry, since the default origin has none
	if e != nil {
		t.Error("an entry of another host")
	}
	per := func(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / float64(max(n, 1)) }
	fmt.Printf("frontier: %d URLs, %d links judged; a link costs %.0f ns below 100,000 URLs, %.0f ns at the end (%.2f times); %.0f links/s at the end\n",
		found, judged, per(early, earlyN), per(late, lateN), per(late, lateN)/per(early, earlyN), 1e9/per(late, lateN))
	fmt.Printf("frontier: file %.0f bytes a URL, reopened in %v, peak memory %d MB, %d MB of it pages of the file\n", float64(st.Size())/float64(found), reopened.Round(time.Millisecond), before, file)
}

// sitePath returns a random-looking path that depends on n only.
func sitePath(n int) string {
	h := uint64(n)*0x9e3779b97f4a7c15 + 1
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return fmt.Sprintf("/%x/%x/article-%d.html", h>>56, h>>40&0xffff, n)
}

// memoryUsed returns the peak resident memory of the process and the file-backed part of it now, in MB;
// 0 if unknown.
func memoryUsed() (peak, file int) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		name, rest, _ := strings.Cut(line, ":")
		kb, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		switch name {
		case "VmHWM":
			peak = kb / 1024
		case "RssFile":
			file = kb / 1024
		}
	}
	return peak, file
}
