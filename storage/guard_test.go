package storage

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"curtsy/storage/crawllog"
)

// A panic in a transaction is reported as damage if bbolt, or a read of its memory map, caused it; a
// panic in the caller's code stays a panic.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	w := begun(t, dir, Options{})
	w.page("http://h/", "hello")
	w.commit()
	w.close()
	a, err := OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var none *crawllog.Visit
	var far *struct {
		_ [1 << 20]byte
		n int
	}
	for _, c := range []struct {
		name   string
		in     func(*bbolt.Tx) error
		damage bool
	}{
		{"a bucket that is missing", func(tx *bbolt.Tx) error { return tx.Bucket([]byte("none")).ForEach(nil) }, true},
		{"nil", func(*bbolt.Tx) error { none.N++; return nil }, false},
		{"nil, and far from it", func(*bbolt.Tx) error { far.n++; return nil }, false},
		{"in what bbolt calls", func(tx *bbolt.Tx) error { return tx.ForEach(func([]byte, *bbolt.Bucket) error { panic("ours") }) }, false},
		{"in one within another", func(*bbolt.Tx) error { return a.view(func(*bbolt.Tx) error { none.N++; return nil }) }, false},
		{"a value that is there no more", func(tx *bbolt.Tx) error {
			v, _ := tx.Cursor().First()
			return errors.Join(os.Truncate(filepath.Join(dir, dbName), 0), errors.New(string(v)))
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if p := recover(); (p == nil) != c.damage {
					t.Errorf("it panics: %v", p)
				}
			}()
			err := func() (err error) {
				defer Guard(&err)()
				return a.view(c.in)
			}()
			var damage *DamageError
			if !errors.As(err, &damage) {
				t.Errorf("it is %v", err)
			}
		})
	}
}

// If a visit's records cannot be encoded, only that visit is lost, however much of it was written.
func TestRecordsThatCannotBeMade(t *testing.T) {
	for name, octets := range map[string]int{"none": 0, "some": 1000, "more than is held back": 12 << 20} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w := begun(t, dir, Options{})
			w.page("http://h/a", "first")
			why := errors.New("a mistake")
			v := &crawllog.Visit{Asked: crawllog.Asked{URLID: 77, N: 1, URL: "http://h/b"}}
			err := w.a.Append(v, func(to io.Writer, _ string) error {
				_, err := io.Copy(to, io.LimitReader(strings.NewReader(strings.Repeat("x", octets)), int64(octets)))
				return errors.Join(err, why)
			})
			if !errors.Is(err, ErrEncode) || !errors.Is(err, why) {
				t.Fatalf("it is %v", err)
			}
			if err := w.a.Append(v, func(to io.Writer, _ string) error { io.WriteString(to, "half"); return why }); !errors.Is(err, ErrEncode) {
				t.Fatalf("it is %v", err)
			}
			w.page("http://h/c", "last")
			w.commit()
			w.close()
			if found, lost, r := scanned(t, dir, killed); len(found) != 2 || len(lost) > 0 || len(r.Problems) > 0 {
				t.Errorf("found %d, lost %q, problems %v", len(found), lost, r.Problems)
			}
			st, err := os.Stat(filepath.Join(dir, "warc", namesIn(t, dir)[0]))
			if err != nil || st.Size() > 10000 {
				t.Errorf("the segment has %d octets, %v", st.Size(), err)
			}
		})
	}
}
