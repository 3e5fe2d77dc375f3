package hostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/hostile"
)

// TestSoak crawls the whole server repeatedly for the time in HOSTILE_SOAK (such as 30m; with
// -race one round): afterwards no goroutine, file or connection is left, no round leaves more
// files than the first, and memory does not grow from the second third of the rounds to the
// last.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("HOSTILE_SOAK"))
	if err != nil {
		t.Skip("HOSTILE_SOAK says how long, as 1m does")
	}
	var mix []*hostile.Fixture
	for _, f := range hostile.Shared() {
		if !f.Heavy && !f.Cookies && !f.Requisites && f.Most < 1000 {
			mix = append(mix, f)
		}
	}
	others := goleak.IgnoreCurrent()
	before := left()
	var after []held
	for end := time.Now().Add(length); time.Now().Before(end) || len(after) < 2; {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(len(after)))
		soaked(t, dir, mix)
		os.RemoveAll(dir)
		after = append(after, holding())
	}
	gone(t, before)
	goleak.VerifyNone(t, others) // waits a while, and names what is left
	steady(t, after)
}

// soaked runs one round.
func soaked(t *testing.T, dir string, mix []*hostile.Fixture) {
	t.Helper()
	s, err := hostile.Start("127.0.0.1:0", mix...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	crawl(t, dir, options(t, s.Origin+"/", nil), hang)
	crawltest.Sound(t, dir)
	for _, bad := range s.Improper() {
		t.Errorf("improper request: %s", bad)
	}
}

// held is what the process holds after a round.
type held struct {
	heap, resident uint64 // octets
	sockets        int    // including idle connections
	files          int
}

func (h held) String() string {
	return fmt.Sprintf("%.1f MB of heap, %.1f MB resident, %d files, %d sockets", float64(h.heap)/(1<<20),
		float64(h.resident)/(1<<20), h.files, h.sockets)
}

// holding measures after a garbage collection that returns memory to the system.
func holding() (h held) {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.heap, h.resident = m.HeapInuse, resident()
	entries, _ := os.ReadDir("/proc/self/fd")
	h.files = len(entries)
	for _, e := range entries {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.HasPrefix(to, "socket:") {
			h.sockets++
		}
	}
	return h
}

// resident returns the resident memory of the process in octets, 0 without /proc.
func resident() uint64 {
	b, _ := os.ReadFile("/proc/self/statm")
	var size, pages uint64
	fmt.Sscan(string(b), &size, &pages)
	return pages * uint64(os.Getpagesize())
}

// margin is the variation allowed for a median: a tenth plus 4 MiB.
func margin(n uint64) uint64 { return n/10 + 4<<20 }

// steady compares the last third of the rounds with the second; caches fill in the first.
func steady(t *testing.T, after []held) {
	t.Helper()
	third := len(after) / 3
	t.Logf("%d rounds: after the first %v; after the last %v", len(after), after[0], after[len(after)-1])
	if third < 2 {
		return // too few to tell
	}
	second, last := after[third:2*third], after[len(after)-third:]
	for _, m := range []struct {
		name string
		of   func(held) uint64
	}{
		{"heap", func(h held) uint64 { return h.heap }},
		{"resident memory", func(h held) uint64 { return h.resident }},
	} {
		if patience > 1 && m.name != "heap" {
			continue // the shadow memory of the race detector only grows
		}
		was, is := median(second, m.of), median(last, m.of)
		t.Logf("%s: median of the second third %d kB, of the last %d kB", m.name, was>>10, is>>10)
		if is > was+margin(was) {
			t.Errorf("%s grows: %d kB in the second third of the rounds, %d kB in the last", m.name, was>>10, is>>10)
		}
	}
	files := func(h held) uint64 { return uint64(h.files) }
	if was, is := median(second, files), median(last, files); is > was {
		t.Errorf("open files grow from %d to %d", was, is)
	}
}

func median(list []held, of func(held) uint64) uint64 {
	values := make([]uint64, len(list))
	for i, h := range list {
		values[i] = of(h)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
