package hostile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"curtsy/internal/hostile"
)

// TestSoak crawls the whole server again and again, for as long as
// HOSTILE_SOAK says (30m, say; with -race once): afterwards no goroutine, file
// or connection is left, and memory is what it was after the first rounds.
func TestSoak(t *testing.T) {
	length := 3 * time.Second
	if s := os.Getenv("HOSTILE_SOAK"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	} else if testing.Short() {
		t.Skip("short")
	}
	var mix []*hostile.Fixture
	for _, f := range hostile.Shared() {
		if !f.Heavy && !f.Cookies && !f.Requisites && f.Most < 1000 {
			mix = append(mix, f)
		}
	}
	before := left()
	var first, last uint64
	rounds := 0
	for end := time.Now().Add(length); time.Now().Before(end) || rounds < 2; rounds++ {
		s, err := hostile.Start("127.0.0.1:0", mix...)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), fmt.Sprint(rounds))
		crawl(t, dir, options(t, s.Origin+"/", nil), time.Minute)
		sound(t, dir)
		for _, bad := range s.Improper() {
			t.Errorf("improper request: %s", bad)
		}
		s.Close()
		os.RemoveAll(dir)
		last = live()
		if rounds < 3 {
			first = max(first, last)
		}
	}
	gone(t, before)
	t.Logf("%d rounds, %d MB live after the first, %d MB after the last", rounds, first>>20, last>>20)
	if last > first+first/4+8<<20 {
		t.Errorf("memory grows: %d MB live after the first rounds, %d MB after %d", first>>20, last>>20, rounds)
	}
}

// live is what lives on the heap.
func live() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
