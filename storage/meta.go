package storage

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The two first pages of a bbolt file are its meta pages. Each transaction
// writes one of them, and when one is damaged bbolt takes the other: the state
// before the last commit. Nothing says so, and Open would then cut off what the
// last commit kept.
const (
	pageHeader = 16
	metaSize   = 64 // the last eight octets are the sum of those before
	metaMagic  = 0xED0CDAED
)

// metas says whether both meta pages are whole.
func (d *directory) metas() error {
	f, err := d.open(dbName)
	if err != nil {
		return err
	}
	defer f.Close()
	first, whole := readMeta(f, 0)
	if !whole {
		return damagedPage(0)
	}
	if _, whole := readMeta(f, first.pageSize); !whole {
		return damagedPage(1)
	}
	return nil
}

func damagedPage(n int) error {
	return &DamageError{File: dbName, What: fmt.Sprintf("meta page %d is damaged: the last commit may be missing", n)}
}

// meta is what is of interest in a meta page.
type meta struct {
	pageSize, root, freelist, pages, transaction int64
}

func readMeta(f io.ReaderAt, at int64) (m meta, whole bool) {
	b := make([]byte, metaSize)
	if _, err := f.ReadAt(b, at+pageHeader); err != nil {
		return m, false
	}
	h := fnv.New64a()
	h.Write(b[:metaSize-8])
	n := binary.NativeEndian
	m = meta{int64(n.Uint32(b[8:])), int64(n.Uint64(b[16:])), int64(n.Uint64(b[32:])), int64(n.Uint64(b[40:])),
		int64(n.Uint64(b[48:]))}
	return m, n.Uint32(b) == metaMagic && n.Uint64(b[metaSize-8:]) == h.Sum64()
}

// newestMeta is the meta page that bbolt goes by.
func newestMeta(f io.ReaderAt) meta {
	m, ok := readMeta(f, 0)
	if !ok {
		m.pageSize = int64(os.Getpagesize())
	}
	if other, whole := readMeta(f, m.pageSize); whole && (!ok || other.transaction > m.transaction) {
		m = other
	}
	return m
}
