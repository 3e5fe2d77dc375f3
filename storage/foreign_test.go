package storage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// one makes an archive of one page and returns its segment's name.
func one(t *testing.T, dir string) string {
	t.Helper()
	w := begun(t, dir, Options{})
	w.page("http://h/", "hello")
	w.commit()
	w.close()
	return namesIn(t, dir)[0]
}

// renamedSegment makes crawl.db refer to another segment name.
func renamedSegment(t *testing.T, dir, from, to string) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(dir, dbName), 0o644, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket(bucketSegments).Delete([]byte(from)); err != nil {
			return err
		}
		return putSegment(tx, to, segmentEntry{Size: 3})
	}); err != nil {
		t.Fatal(err)
	}
}

func victim(t *testing.T, dir string) (path string, untouched func()) {
	t.Helper()
	path = filepath.Join(filepath.Dir(dir), "victim")
	if err := os.WriteFile(path, []byte("precious, and longer than what is committed"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, func() {
		t.Helper()
		if b, err := os.ReadFile(path); err != nil || string(b) != "precious, and longer than what is committed" {
			t.Errorf("the victim is %q, %v", b, err)
		}
	}
}

func TestSegmentNamesFromCrawlDBLeadNowhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../../victim", "..", "/etc/passwd", "a/b-20260101000000-00000.warc.gz",
		"x\n-20260101000000-00000.warc.gz", strings.Repeat("a", 300) + "-20260101000000-00000.warc.gz"} {
		dir := filepath.Join(t.TempDir(), "archive")
		segment := one(t, dir)
		_, untouched := victim(t, dir)
		renamedSegment(t, dir, segment, name)
		var damage *DamageError
		if _, err := Open(dir, Options{}); !errors.As(err, &damage) {
			t.Errorf("%q: open says %v, want that it is damaged", name, err)
		}
		a, err := OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Verify(nil); !errors.As(err, &damage) {
			t.Errorf("%q: verify says %v, want that it is damaged", name, err)
		}
		a.Close()
		if _, err := Open(dir, Options{Mend: true}); !errors.As(err, &damage) {
			t.Errorf("%q: repair says %v, want that it is damaged", name, err)
		}
		untouched()
	}
}

func TestNothingIsReadOrWrittenThroughALink(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	segment := filepath.Join(dir, warcDir, one(t, dir))
	path, untouched := victim(t, dir)
	if err := errors.Join(os.Remove(segment), os.Symlink(path, segment)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrIrregular) {
		t.Errorf("open says %v, want that it is no regular file", err)
	}
	a, err := OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Verify(nil); !errors.Is(err, ErrIrregular) {
		t.Errorf("verify says %v, want that it is no regular file", err)
	}
	a.Close()
	if a, err = Open(dir, Options{Mend: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Salvage(nil, nil); !errors.Is(err, ErrIrregular) {
		t.Errorf("repair says %v, want that it is no regular file", err)
	}
	a.Close()
	untouched()
}

func TestSegmentsOfAnotherArchiveAreNotReached(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, other := filepath.Join(base, "archive"), filepath.Join(base, "other")
	one(t, dir)
	theirs := one(t, other)
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, warcDir)),
		os.Symlink("../other/warc", filepath.Join(dir, warcDir))); err != nil {
		t.Fatal(err)
	}
	for what, open := range map[string]func() error{
		"open":   func() error { _, err := Open(dir, Options{}); return err },
		"read":   func() error { _, err := OpenRead(dir); return err },
		"repair": func() error { _, err := Open(dir, Options{Mend: true}); return err },
	} {
		if err := open(); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s says %v, want that warc is not a directory", what, err)
		}
	}
	if names := namesIn(t, other); len(names) != 1 || names[0] != theirs {
		t.Errorf("the other archive has %q", names)
	}
}

// The segment's warcinfo record says that another archive created it.
func TestAnUnknownSegmentOfAnotherCrawlIsSetAside(t *testing.T) {
	base := t.TempDir()
	dir, other := filepath.Join(base, "archive"), filepath.Join(base, "other")
	one(t, dir)
	theirs := one(t, other)
	b, err := os.ReadFile(filepath.Join(other, warcDir, theirs))
	if err != nil {
		t.Fatal(err)
	}
	name := "curtsy-20990101000000-00001.warc.gz"
	if err := os.WriteFile(filepath.Join(dir, warcDir, name), b, 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got, err := os.ReadFile(filepath.Join(dir, warcDir, name+"."+asideUnknown)); err != nil ||
		string(got) != string(b) {
		t.Errorf("it is not set aside: %v", err)
	}
}

func TestStatusIsNotWrittenThroughALink(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	one(t, dir)
	path, untouched := victim(t, dir)
	for _, name := range []string{statusName + ".new", statusName} {
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		a, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.PutStatus([]byte("{}")); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: %v, want that it is no regular file", name, err)
		}
		a.Close()
		if _, err := Status(dir); err == nil {
			t.Errorf("%s: the status was read through a link", name)
		}
		untouched()
		os.Remove(filepath.Join(dir, name))
	}
}

// A directory that is moved while it is written takes all later writes along, and another archive may
// be created in its place.
func TestADirectoryThatIsMovedKeepsEverything(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	was, is := filepath.Join(base, "v1"), filepath.Join(base, "v2")
	w := begun(t, was, Options{SegmentSize: 1})
	w.page("http://h/1", "first")
	w.commit()
	if err := os.Rename(was, is); err != nil {
		t.Fatal(err)
	}
	second := begun(t, was, Options{})
	second.page("http://h/other", "of another crawl")
	second.commit()
	w.page("http://h/2", "second, in a segment of its own")
	w.commit()
	if err := w.a.PutStatus([]byte("{}")); err != nil {
		t.Error(err)
	}
	w.close()
	second.close()
	for dir, want := range map[string]int{is: 2, was: 1} {
		a, err := OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Verify(nil)
		if err != nil || len(r.Problems) > 0 || r.Visits != want || r.Segments != want || r.InFlight > 0 {
			t.Errorf("%s: %+v, %v; want %d visits and no problem", filepath.Base(dir), r, err, want)
		}
		a.Close()
	}
}

// Opening an archive for reading changes nothing, whatever a kill left.
func TestReadingLeavesWhatWasInFlight(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	segment := filepath.Join(dir, warcDir, one(t, dir))
	f, err := os.OpenFile(segment, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("in flight"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := os.WriteFile(filepath.Join(dir, warcDir, "curtsy-20990101000000-00001.warc.gz"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	a, err := OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r, err := a.Verify(nil)
	if err != nil || len(r.Problems) > 0 || r.InFlight != int64(len("in flight")) {
		t.Errorf("verify says %+v, %v; want no problem and 9 bytes in flight", r, err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("there was %s, there is %s", before, after)
	}
}

// listing returns the names, sizes and times of all files in a directory.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := e.Info()
		if err == nil {
			b.WriteString(path + " " + st.Mode().String() + " " + st.ModTime().String() + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
