package storage

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
)

// The two first pages of a bbolt file are its meta pages. Each transaction
// writes one of them, and when one is damaged bbolt takes the other: the state
// before the last commit. Nothing says so, and Open would then cut off what the
// last commit kept.
const (
	pageHeader = 16
	metaSize   = 64 // the last eight octets are the sum of those before
	metaMagic  = 0xED0CDAED
	isFreelist = 0x10
)

// metas says whether both meta pages are whole.
func metas(dir string) error {
	f, err := os.Open(filepath.Join(dir, dbName))
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
	m = meta{int64(n.Uint32(b[8:])), int64(n.Uint64(b[16:])), int64(n.Uint64(b[32:])), int64(n.Uint64(b[40:])), int64(n.Uint64(b[48:]))}
	return m, n.Uint32(b) == metaMagic && n.Uint64(b[metaSize-8:]) == h.Sum64()
}

// freelist checks the list of free pages, which bbolt reads when it opens a
// file for writing: it panics over a bad one with the file locked, and would
// write over pages in use that are in it.
func freelist(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if !goodFreelist(f, newestMeta(f)) {
		return &DamageError{File: path, What: "the list of its free pages is damaged"}
	}
	return nil
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

func goodFreelist(f io.ReaderAt, m meta) bool {
	b := make([]byte, pageHeader+8)
	at := m.freelist * m.pageSize
	if _, err := f.ReadAt(b, at); err != nil {
		return false
	}
	n := binary.NativeEndian
	count, rest, from := int64(n.Uint16(b[10:])), int64(n.Uint32(b[12:])), at+pageHeader
	if count == 0xFFFF { // too many for the header
		count, from = int64(n.Uint64(b[pageHeader:])), from+8
	}
	if int64(n.Uint64(b)) != m.freelist || n.Uint16(b[8:]) != isFreelist || m.freelist+rest >= m.pages || count < 0 || count > m.pages {
		return false
	}
	ids := make([]byte, 8*count)
	if _, err := f.ReadAt(ids, from); err != nil {
		return false
	}
	for last := int64(1); len(ids) > 0; ids = ids[8:] {
		id := int64(n.Uint64(ids))
		if id <= last || id >= m.pages {
			return false
		}
		last = id
	}
	return true
}
