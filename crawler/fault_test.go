//go:build linux

package crawler_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/verify"
)

// faults make an open file of the archive fail as a disk would. They replace what its descriptor
// refers to, so bbolt and the segments run unchanged, without an abstraction over the file system.
var faults = map[string]func(t *testing.T, fd int){
	// Every write fails with ENOSPC, and fsync fails too.
	"no space left": func(t *testing.T, fd int) { replace(t, fd, "/dev/full", os.O_RDWR) },
	// Every write fails with EBADF, as on a file system that went read-only.
	"read-only": func(t *testing.T, fd int) { replace(t, fd, os.DevNull, os.O_RDONLY) },
	// Writes go nowhere and succeed; fsync and truncate fail with EINVAL.
	"fsync fails": func(t *testing.T, fd int) {
		var p [2]int
		if err := syscall.Pipe(p[:]); err != nil {
			t.Fatal(err)
		}
		// The reader keeps the pipe from filling up.
		go func() {
			f := os.NewFile(uintptr(p[0]), "pipe")
			defer f.Close()
			b := make([]byte, 64<<10)
			for {
				if _, err := f.Read(b); err != nil {
					return
				}
			}
		}()
		if err := syscall.Dup3(p[1], fd, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		syscall.Close(p[1])
	},
}

func replace(t *testing.T, fd int, by string, flag int) {
	f, err := os.OpenFile(by, flag, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Dup3(int(f.Fd()), fd, syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
}

// descriptors returns the open descriptors of files below dir whose name ends in ending.
func descriptors(t *testing.T, dir, ending string) (list []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if strings.HasPrefix(to, dir) && strings.HasSuffix(to, ending) {
			var fd int
			fmt.Sscan(e.Name(), &fd)
			list = append(list, fd)
		}
	}
	return list
}

// Every kind of write error at every point of a commit: the crawl stops and reports it, the archive
// stays valid, and resume completes the crawl without losing what was reported as durable.
func TestEveryWriteMayFail(t *testing.T) {
	for name, fault := range faults {
		for _, file := range []string{"crawl.db", ".warc.gz"} {
			for _, point := range []string{"appended", "synced", "before-commit", "committed"} {
				for _, nth := range []int{1, 2, 7} {
					if !chosen(fmt.Sprint(name, file, point, nth)) {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%d", name, strings.Trim(file, "."), point, nth), func(t *testing.T) {
						writeFails(t, func(dir string) {
							for _, fd := range descriptors(t, dir, file) {
								fault(t, fd)
							}
						}, point, nth, file != "crawl.db" && point != "appended")
					})
				}
			}
		}
	}
}

// The process runs out of file descriptors while segments are created and connections are opened.
func TestNoMoreFiles(t *testing.T) {
	long(t)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
	for _, nth := range []int{1, 3, 10} {
		t.Run(fmt.Sprint(nth), func(t *testing.T) {
			defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
			writeFails(t, func(string) {
				now := was
				now.Cur = 3
				syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now)
			}, "committed", nth, true, func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) })
		})
	}
}

// writeFails crawls with a fault that begins the nth time the point is reached, then without one.
// mayPass is set if the file that fails may not be written to again, so the crawl may succeed.
func writeFails(t *testing.T, fault func(dir string), point string, nth int, mayPass bool, after ...func()) {
	s := small(t)
	dir := filepath.Join(t.TempDir(), "archive")
	o := options(s.URL + "/")
	o.Archive.SegmentSize = 4000 // several segments
	passed := 0
	o.Archive.Fail = func(p string) {
		if p == point {
			if passed++; passed == nth {
				fault(dir)
			}
		}
	}
	kept := map[string]string{}
	c, err := crawler.Open(dir, o)
	if err != nil {
		t.Logf("open: %v", err) // the fault hit during Open
	} else {
		r, err := c.Run(t.Context(), t.Context())
		t.Logf("run: %v, %s, %v", r.Ending, r.Why, err)
		if err == nil && r.Ending == crawler.Done && point != "committed" && passed >= nth && !mayPass {
			t.Error("the crawl says that all is done")
		}
		c.Close()
	}
	for _, f := range after {
		f()
	}
	o.Archive.Fail = nil
	if _, err := os.Stat(filepath.Join(dir, "crawl.db")); err == nil && passed > 0 {
		report, err := verify.Archive(dir, nil)
		if err != nil {
			t.Fatalf("verify: %v", err)
		}
		for _, p := range report.Problems {
			t.Errorf("verify: %+v", p)
		}
		for target, row := range rows(t, dir) {
			if row.Kept != "" {
				kept[target] = row.Kept
			}
		}
	}
	asked := s.requests()
	r := crawl(t, dir, o)
	if r.Ending != crawler.Done {
		t.Errorf("resumed: %v, %s", r.Ending, r.Why)
	}
	now := rows(t, dir)
	for target := range s.pages {
		if row := now[target]; target != "/private" && row.Kept == "" {
			t.Errorf("%s is not kept: %+v", target, row)
		}
	}
	for target, how := range kept {
		if now[target].Kept != how {
			t.Errorf("%s was kept (%s) and is not now: %+v", target, how, now[target])
		}
		for _, again := range s.requests()[len(asked):] {
			if again == target && target != "/robots.txt" {
				t.Errorf("%s was kept and is asked for again", target)
			}
		}
	}
}
