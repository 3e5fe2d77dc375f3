//go:build linux || darwin || freebsd

package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"curtsy/frontier"
)

type tallied struct{ Visits int }

// A child process started while an archive is being closed holds the lock's descriptor until its exec.
func TestAClosedArchiveIsFreeWhateverAChildHolds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := begun(t, dir, Options{})
	held, err := unix.Dup(int(w.a.dir.locked.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(held)
	w.page("http://h/", "text")
	if err := errors.Join(w.a.Commit(tallied{1}), w.a.Close()); err != nil {
		t.Fatal(err)
	}
	a, err := OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}

// A reader sees one complete commit to its end while a crawl writes.
func TestReadingWhileAWriterWrites(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("long-", 30), "archive")
	w := begun(t, dir, Options{SegmentSize: 20_000})
	f, err := w.a.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrInUse) {
		t.Errorf("a second writer: %v, want that it is in use", err)
	}
	stop, wrote := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				wrote <- n
				return
			default:
			}
			time.Sleep(5 * time.Millisecond) // as a crawl does, which commits in groups
			for range 5 {
				n++
				w.page(fmt.Sprintf("http://h/%d", n), strings.Repeat(fmt.Sprint("text ", n), n%700))
			}
			if err := w.a.Commit(tallied{n}); err != nil {
				t.Error(err)
			}
		}
	}()
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for range 2 {
				read(t, dir)
			}
		})
	}
	readers.Wait()
	close(stop)
	n := <-wrote
	w.close()
	_ = f
	a, err := OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r, err := a.Verify(nil)
	if err != nil || len(r.Problems) > 0 || r.Visits != n || r.Live {
		t.Errorf("afterwards: %+v, %v; want %d visits", r, err, n)
	}
	if _, err := os.Lstat(filepath.Join(dir, socketName)); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}

// read opens an archive that is being written and checks twice that what a reader sees is consistent.
func read(t *testing.T, dir string) {
	a, err := OpenRead(dir)
	if err != nil {
		t.Error(err)
		return
	}
	defer a.Close()
	if !a.IsLive() {
		t.Error("the writer is not noticed")
	}
	for range 2 {
		var said tallied
		if _, err := a.Crawl(&said); err != nil {
			t.Error(err)
		}
		r, err := a.Verify(nil)
		if err != nil || len(r.Problems) > 0 || r.Visits != said.Visits {
			t.Errorf("%d visits, %v, %v; the crawl's own entry says %d", r.Visits, r.Problems, err, said.Visits)
		}
		f, err := a.Frontier()
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := f.Audit(func(frontier.Found) {}); err != nil {
			t.Error(err)
		}
	}
}

// The socket that a killed writer leaves does not hinder later readers or writers.
func TestASocketThatAKillLeft(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "archive")
	w := begun(t, dir, Options{})
	w.page("http://h/", "hello")
	if err := w.a.Commit(tallied{1}); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(t.TempDir(), "left")
	if err := os.Link(filepath.Join(dir, socketName), left); err != nil {
		t.Fatal(err)
	}
	w.close()
	if err := os.Link(left, filepath.Join(dir, socketName)); err != nil {
		t.Fatal(err)
	}
	a, err := OpenRead(dir)
	if err != nil || a.IsLive() {
		t.Fatalf("%v, want that nobody writes", err)
	}
	a.Close()
	w = begun(t, dir, Options{})
	read(t, dir)
	w.close()
}
