//go:build unix

package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// Opening a FIFO that has no other end would block for ever.
func TestAFIFOIsNeverWaitedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		openable, reachable bool // by a writer; by a reader
	}{
		{"segment", false, true},
		{dbName, false, false},
		{sealName, false, true},
		{statusName, true, true},
		{statusName + ".new", true, true},
	} {
		dir := filepath.Join(t.TempDir(), "archive")
		segment := one(t, dir)
		path := filepath.Join(dir, c.name)
		if c.name == "segment" {
			path = filepath.Join(dir, warcDir, segment)
		}
		if err := errors.Join(os.RemoveAll(path), syscall.Mkfifo(path, 0o644)); err != nil {
			t.Fatal(err)
		}
		if a, err := OpenRead(dir); (err == nil) != c.reachable || err != nil && !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: a reader gets %v", c.name, err)
		} else if err == nil {
			if _, err := a.Verify(nil); c.name == "segment" && !errors.Is(err, ErrIrregular) {
				t.Errorf("%s: verify says %v, want that it is no regular file", c.name, err)
			}
			a.Close()
		}
		if _, err := Status(dir); c.name == statusName && !errors.Is(err, ErrIrregular) {
			t.Errorf("its status is %v, want that it is no regular file", err)
		}
		a, err := Open(dir, Options{})
		if (err == nil) != c.openable || err != nil && !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: a writer gets %v", c.name, err)
		}
		if err != nil {
			continue
		}
		if err := a.PutStatus([]byte("{}")); !errors.Is(err, ErrIrregular) {
			t.Errorf("%s: the status is put: %v, want that it is no regular file", c.name, err)
		}
		a.Close()
	}
}

// bbolt follows a page that points to itself until the stack overflows, which Go cannot recover from;
// so nothing is looked up before the pages were checked.
func TestNothingIsLookedUpInPagesThatLeadInACircle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	one(t, dir)
	path := filepath.Join(dir, dbName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m := newestMeta(f)
	f.Close()
	page, n := b[m.root*m.pageSize:], binary.NativeEndian
	n.PutUint16(page[8:], pageBranch)
	n.PutUint16(page[10:], 1)
	n.PutUint32(page[16:], 16)
	n.PutUint32(page[20:], 1)
	n.PutUint64(page[24:], uint64(m.root))
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, sealName)); err != nil {
		t.Fatal(err)
	}
	var damage *DamageError
	if _, err := OpenRead(dir); !errors.As(err, &damage) {
		t.Errorf("a reader gets %v, want that it is damaged", err)
	}
	if _, err := Open(dir, Options{}); !errors.As(err, &damage) {
		t.Errorf("a writer gets %v, want that it is damaged", err)
	}
}

// Holes are skipped: an archive from a stranger may have a sparse segment of a terabyte.
func TestHolesInASegmentArePassedOver(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("holes are not known here")
	}
	dir := filepath.Join(t.TempDir(), "archive")
	segment := filepath.Join(dir, warcDir, one(t, dir))
	before, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(segment, 1<<40); err != nil {
		t.Skip(err) // this file system does not allow such a long file
	}
	if f, err := os.Open(segment); err != nil || dataFrom(f, 1<<30, 1<<40) != 1<<40 {
		t.Skip("holes are not known to this file system")
	}
	a, err := OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := a.Verify(nil); err != nil || len(r.Problems) > 0 || r.InFlight != 1<<40-int64(len(before)) {
		t.Errorf("verify says %+v, %v", r, err)
	}
	a.Close()
	if a, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if after, err := os.ReadFile(segment); err != nil || !bytes.Equal(after, before) {
		t.Errorf("%d bytes are left of %d, %v", len(after), len(before), err)
	}
}
