package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// sample makes a bbolt file with branch pages, inline and other buckets, values that span pages, and
// free pages.
func sample(t testing.TB, keys int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	fill := func(tx *bbolt.Tx, from int) error {
		for _, name := range []string{"large", "small", "empty"} {
			b, err := tx.CreateBucketIfNotExists([]byte(name))
			if err != nil {
				return err
			}
			n := map[string]int{"large": keys, "small": 3}[name]
			for i := from; i < n; i++ {
				value := strings.Repeat("v", 20+i%7*i%6000)
				if err := b.Put(fmt.Appendf(nil, "key %06d", i), []byte(value)); err != nil {
					return err
				}
			}
			if _, err := b.CreateBucketIfNotExists([]byte("within")); err != nil {
				return err
			}
		}
		return nil
	}
	for from := range 3 {
		if err := db.Update(func(tx *bbolt.Tx) error { return fill(tx, from) }); err != nil {
			t.Fatal(err)
		}
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for i := keys / 4; i < keys/2; i++ {
			if err := tx.Bucket([]byte("large")).Delete(fmt.Appendf(nil, "key %06d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func structure(t testing.TB, path string) error {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return checkPages(f, st.Size())
}

// tour visits every key as a crawl does, and stops after most keys.
func tour(path string, most int) (n int, err error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: lockTimeout})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	defer Guard(&err)()
	var visit func(b *bbolt.Bucket) error
	visit = func(b *bbolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			if n++; n > most {
				return fmt.Errorf("over %d keys", most)
			}
			if v == nil {
				return visit(b.Bucket(k))
			}
			return nil
		})
	}
	err = guarded(func(r *reach) error {
		return db.View(func(tx *bbolt.Tx) error {
			r.of(db, tx)
			return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return visit(b) })
		})
	})
	return n, err
}

func TestPagesOfASoundFile(t *testing.T) {
	t.Parallel()
	for _, keys := range []int{0, 10, 1000} {
		if err := structure(t, sample(t, keys)); err != nil {
			t.Errorf("%d keys: %v", keys, err)
		}
	}
}

func TestPageThatLeadsBackToItself(t *testing.T) {
	t.Parallel()
	path := sample(t, 600)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size, broken := os.Getpagesize(), 0
	for id := 2; id < len(b)/size; id++ {
		page := b[id*size:]
		if binary.NativeEndian.Uint16(page[8:]) != pageBranch || binary.NativeEndian.Uint64(page) != uint64(id) {
			continue
		}
		bad := append([]byte{}, b...)
		binary.NativeEndian.PutUint64(bad[id*size+pageHeader+8:], uint64(id))
		at := filepath.Join(t.TempDir(), "bad")
		if err := os.WriteFile(at, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := structure(t, at); err != nil {
			has(t, err.Error(), "in use twice")
			broken++
		}
	}
	if broken == 0 {
		t.Error("no page that is in use leads to others")
	}
}

func has(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("%q does not say %q", got, want)
	}
}

// A file that passes the check is safe to walk: octets of page headers and elements are changed, and if
// the check passes, bbolt terminates with no more keys than the file can hold.
func TestWhatPassesCanBeWalked(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes too long for -short")
	}
	path := sample(t, 300)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := os.Getpagesize()
	rng := rand.New(rand.NewPCG(1, 2))
	passed, refused := 0, 0
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range 5000 {
		where := make([]int64, 1+rng.IntN(3))
		for i := range where {
			where[i] = int64(rng.IntN(len(whole)/size)*size + rng.IntN(200))
			f.WriteAt([]byte{byte(rng.Uint32())}, where[i])
		}
		if checkPages(f, int64(len(whole))) != nil {
			refused++
		} else {
			passed++
			var damage *DamageError // unordered names, which bbolt does not find
			if _, err := tour(path, len(whole)/pageElement); err != nil && !errors.As(err, &damage) {
				t.Fatalf("passed, and then: %v", err)
			}
		}
		for _, at := range where {
			f.WriteAt(whole[at:at+1], at)
		}
	}
	t.Logf("%d passed, %d refused", passed, refused)
	if passed == 0 || refused == 0 {
		t.Error("nothing is shown")
	}
}

// FuzzPages: checking any file never panics; one that passes can be walked to its end.
func FuzzPages(f *testing.F) {
	for _, keys := range []int{1, 12, 40} {
		path := filepath.Join(f.TempDir(), "db")
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, PageSize: 512})
		if err != nil {
			f.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("b"))
			for i := range keys {
				err = errors.Join(err, b.Put(fmt.Appendf(nil, "key %d", i), make([]byte, 20+i%3*400)))
			}
			return err
		})
		if err := errors.Join(err, db.Close()); err != nil {
			f.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		if checkPages(bytes.NewReader(b), int64(len(b))) != nil {
			return
		}
		path := filepath.Join(dir, "db")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := tour(path, len(b)/pageElement+1); err != nil && strings.Contains(err.Error(), "keys") {
			t.Fatal(err)
		}
	})
}
