package storage

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// A page damaged while the archive is open makes a transaction panic; if the freelist cannot be read
// again, bbolt's locks stay held. Closing the archive does not wait for them.
func TestATransactionThatPanicsDoesNotHoldTheArchive(t *testing.T) {
	const page = 4096
	dir := t.TempDir()
	w := begun(t, dir, Options{})
	w.page("http://h/", "hello")
	w.commit()
	w.close()
	path := filepath.Join(dir, dbName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	newest := 0
	if binary.LittleEndian.Uint64(b[page+64:]) > binary.LittleEndian.Uint64(b[64:]) {
		newest = page
	}
	a, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	root, list := binary.LittleEndian.Uint64(b[newest+32:]), page*binary.LittleEndian.Uint64(b[newest+48:])
	err = a.update(func(tx *bbolt.Tx) error {
		for _, at := range []uint64{page * root, list} {
			if _, err := f.WriteAt([]byte{0x5a}, int64(at)+8); err != nil { // the page's flags
				return err
			}
		}
		return putCrawl(tx, 1)
	})
	var damage *DamageError
	if !errors.As(err, &damage) {
		t.Errorf("the transaction says %v, want that crawl.db is damaged", err)
	}
	if err := a.Commit(1); !errors.As(err, &damage) {
		t.Errorf("the next one says %v, want that crawl.db is damaged", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
