package storage_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// kept makes an archive of one visit in dir and returns its segment's path.
func kept(t *testing.T, dir string) string {
	t.Helper()
	a, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	v := &crawllog.Visit{Asked: crawllog.Asked{URL: "http://h/", URLID: 1, N: 1, At: time.Unix(1e9, 0)}, Stored: crawllog.Stored{Record: &crawllog.Record{}}}
	if err := a.Append(v, func(w io.Writer, _ string) error { _, err := io.WriteString(w, "a record"); return err }); err != nil {
		t.Fatal(err)
	}
	if err := a.Commit(nil); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(filepath.Join(dir, "warc"))
	if err != nil || len(names) != 1 {
		t.Fatalf("segments %v, %v", names, err)
	}
	return filepath.Join(dir, "warc", names[0].Name())
}

// A directory name with pattern characters is handled like any other.
func TestWhatWasInFlightIsCutOffInADirectoryWithBrackets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a-z]*?")
	segment := kept(t, dir)
	before, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(segment, append(before, "in flight"...), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	if after, _ := os.ReadFile(segment); len(after) != len(before) {
		t.Errorf("the segment has %d octets, %d were committed", len(after), len(before))
	}
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	var damage *storage.DamageError
	if _, err := storage.Open(dir, storage.Options{}); !errors.As(err, &damage) {
		t.Errorf("without its crawl.db it opens with %v, want that it is damaged", err)
	}
}

// A segment directory that cannot be listed is not treated as empty.
func TestSegmentsThatCannotBeListedAreNotTakenForNone(t *testing.T) {
	dir := t.TempDir()
	kept(t, dir)
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	warc := filepath.Join(dir, "warc")
	if err := os.Rename(warc, warc+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("warc", warc); err != nil { // a link to itself
		t.Fatal(err)
	}
	if _, err := storage.OpenRead(dir); err == nil || errors.Is(err, storage.ErrNone) {
		t.Errorf("an archive whose segments cannot be listed: %v", err)
	}
}

// A segment that temporarily cannot be opened is not damaged, and repair, which relies on the report,
// must not discard its contents.
func TestSegmentThatCannotBeOpenedIsAnErrorAndNoDamage(t *testing.T) {
	dir := t.TempDir()
	segment := kept(t, dir)
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := os.Rename(segment, segment+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Base(segment), segment); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Verify(nil); !errors.Is(err, storage.ErrIrregular) {
		t.Errorf("verify says %v, want that the segment cannot be opened", err)
	}
}

// A kill during the first writes leaves nothing that obstructs the next start.
func TestHalfMadeDatabaseIsNotInTheWay(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int64{"crawl.db": 0, fmt.Sprintf("crawl.db.%d.new", os.Getpid()): 8192} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept(t, dir)
	left, err := filepath.Glob(filepath.Join(dir, "*.new"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %q, %v", left, err)
	}
}

func TestDiskErrorsAreToldFromDamage(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{storage.Refused(errors.New("any")), true},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}, true},
		{fmt.Errorf("frontier: %w", syscall.EIO), true},
		{syscall.ENOSPC, true},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, false},
		{&storage.DamageError{File: "crawl.db", What: "damaged"}, false},
		{errors.Join(&storage.DamageError{File: "crawl.db"}, syscall.EIO), false},
		{nil, false},
	} {
		if got := storage.IsDisk(c.err); got != c.want {
			t.Errorf("%v: got %v, want %v", c.err, got, c.want)
		}
	}
}
