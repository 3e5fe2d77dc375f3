package crawler_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/rebuild"
	"curtsy/crawler/verify"
)

// TestMain lets the test binary run the crawl that is to be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("CURTSY_TEST_ARCHIVE"); dir != "" {
		victim(dir)
	}
	flag.Set("test.parallel", "8") // most tests wait for a server or a disk
	os.Exit(m.Run())
}

// victim crawls until it is done, or kills itself the nth time it passes the given point of a commit.
func victim(dir string) {
	o := victimOptions(os.Getenv("CURTSY_TEST_SEED"))
	point, count, _ := strings.Cut(os.Getenv("CURTSY_TEST_KILL"), ":")
	after, _ := strconv.ParseInt(count, 10, 64)
	var passed atomic.Int64
	o.Archive.Fail = func(name string) {
		if name == point && passed.Add(1) == after {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
	}
	if os.Getenv("CURTSY_TEST_REBUILD") != "" {
		if _, err := rebuild.Archive(dir, o); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	c, err := crawler.Open(dir, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if _, err := c.Run(context.Background(), context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c.Close()
	os.Exit(0)
}

const victimConcurrency = 4

func victimOptions(seed string) crawler.Options {
	o := options(seed)
	o.Pace.Concurrency, o.Pace.MaxFailures, o.Retries = victimConcurrency, -1, 50
	o.Archive.SegmentSize = 40_000 // several segments
	return o
}

// crawlKilled crawls in a separate process that is killed at a point, or after a while; killed is false
// if the crawl ended before.
func crawlKilled(t *testing.T, dir, seed, point string, after time.Duration) (killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // far longer than a slow machine takes
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0])
	c.Env = append(os.Environ(), "CURTSY_TEST_ARCHIVE="+dir, "CURTSY_TEST_SEED="+seed, "CURTSY_TEST_KILL="+point)
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { c.Process.Kill() })
		defer timer.Stop()
	}
	err := c.Wait()
	if ctx.Err() != nil {
		t.Fatalf("the crawl did not end: %s", said.String())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled() {
		return true
	}
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	return false
}

// grove is a site of n pages, some with requisites, some of which fail at first.
func grove(t *testing.T, n int) *site {
	pages := map[string]page{"/robots.txt": text("User-agent: *\nDisallow: /no\nSitemap: /map.txt"),
		"/map.txt": text("ORIGIN/listed"), "/listed": html("listed")}
	for i := range n {
		var b strings.Builder
		for j := 3*i + 1; j <= 3*i+3 && j < n; j++ {
			fmt.Fprintf(&b, "<a href=/p/%d>%d</a>", j, j)
		}
		fmt.Fprintf(&b, `<a href=/no/%d>no</a><img src=/i/%d.png>%s`, i, i%10, strings.Repeat(fmt.Sprint(i), 100))
		pages[fmt.Sprintf("/p/%d", i)] = html(b.String())
		if i%9 == 5 {
			pages[fmt.Sprintf("/p/%d", i)] = failing(1, 500, "", html(b.String()))
		}
		pages[fmt.Sprintf("/i/%d.png", i%10)] = page{header: []string{"Content-Type: image/png"},
			body: fmt.Sprint("image ", i%5)}
	}
	pages["/"] = links("/p/0")
	return newSite(t, pages)
}

// whole checks that a site was crawled completely in spite of kills: nothing is missing, and no more
// requests were repeated than were in flight.
func whole(t *testing.T, s *site, dir string, n, kills int) {
	t.Helper()
	check(t, dir)
	got := rows(t, dir)
	want := []string{"/", "/robots.txt", "/map.txt", "/listed"}
	for i := range n {
		want = append(want, fmt.Sprintf("/p/%d", i), fmt.Sprintf("/i/%d.png", i%10))
	}
	for _, target := range want {
		if row := got[target]; row.State != "fetched" || row.Kept == "" {
			t.Errorf("%s is %q, kept %q", target, row.State, row.Kept)
		}
	}
	if len(got) != 4+n+min(n, 10)+n {
		t.Errorf("%d URLs are known, want %d", len(got), 4+n+min(n, 10)+n)
	}
	twice, asked := 0, map[string]int{}
	for _, target := range s.requests() {
		if asked[target]++; asked[target] > 1 {
			twice++
		}
		if strings.HasPrefix(target, "/no/") {
			t.Errorf("%s is denied and was asked for", target)
		}
	}
	// In flight are visits being fetched and those waiting for their commit.
	twice -= n / 9 // the pages that fail at first
	if most := kills * (128 + 2*victimConcurrency); twice > most {
		t.Errorf("%d requests were repeated after %d kills, at most %d may be", twice, kills, most)
	}
	t.Logf("%d kills, %d of %d requests repeated", kills, twice, len(s.requests()))
}

func TestKillAtEachPointOfACommitLosesNothing(t *testing.T) {
	for _, point := range []string{"appended", "synced", "before-commit", "committed"} {
		for _, nth := range []int{1, 2, 7} {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				s := grove(t, 40)
				dir := filepath.Join(t.TempDir(), "archive")
				kills := 0
				for crawlKilled(t, dir, s.URL+"/", fmt.Sprintf("%s:%d", point, nth), 0) {
					check(t, dir) // after every kill
					if kills++; kills == 3 {
						break
					}
				}
				if kills == 0 && nth == 1 {
					t.Error("the point was never passed")
				}
				run(t, t.Context(), dir, victimOptions(s.URL+"/"))
				whole(t, s, dir, 40, kills)
			})
		}
	}
}

func TestKillAtRandomMomentsLosesNothing(t *testing.T) {
	long(t)
	t.Parallel()
	const n = 300
	seed := uint64(time.Now().UnixNano())
	if v, err := strconv.ParseUint(os.Getenv("CURTSY_TEST_RANDOM"), 10, 64); err == nil {
		seed = v
	}
	t.Logf("CURTSY_TEST_RANDOM=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	s := grove(t, n)
	s.slower(2 * time.Millisecond)
	dir := filepath.Join(t.TempDir(), "archive")
	kills := 0
	for range 20 {
		if !crawlKilled(t, dir, s.URL+"/", "", time.Duration(r.IntN(30)+10)*time.Millisecond) {
			break
		}
		kills++
		if _, err := os.Stat(filepath.Join(dir, "crawl.db")); err == nil {
			if report, err := verify.Archive(dir, nil); err != nil || len(report.Problems) > 0 {
				t.Fatalf("after kill %d: %v, %+v", kills, err, report)
			}
		}
	}
	run(t, t.Context(), dir, victimOptions(s.URL+"/"))
	whole(t, s, dir, n, kills)
}
