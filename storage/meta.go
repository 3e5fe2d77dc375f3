package storage

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The first two pages of a bbolt file are its meta pages. Each transaction writes one of them. If one is
// damaged, bbolt silently uses the other, with the state before the last commit; Open would then truncate
// what the last commit wrote.
const (
	pageHeader = 16
	metaSize   = 64 // the last eight octets are a checksum
	metaMagic  = 0xED0CDAED
)

// metas checks both meta pages.
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

// meta has the fields of a meta page that are used here.
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

// newestMeta returns the meta page that bbolt would use.
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
