package storage

import (
	"encoding/binary"
	"fmt"
	"os"
)

const (
	isBranch = 0x01
	isLeaf   = 0x02
	isBucket = 0x01 // of a leaf's element
)

// tree walks the pages of crawl.db before bbolt does: where a page leads back
// to one above it, which a lost write can bring about, bbolt walks for ever.
type tree struct {
	f    *os.File
	m    meta
	seen []bool
}

// pages checks that every page is reached once, and is what it should be.
func pages(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	m := newestMeta(f)
	if m.pageSize < 512 || m.pages < 3 || m.pages > 1<<40 {
		return &DamageError{File: path, What: "both its meta pages are damaged"}
	}
	if st, err := f.Stat(); err != nil || st.Size() < m.pages*m.pageSize {
		return err // cut off, which whole says
	}
	t := &tree{f, m, make([]bool, m.pages)}
	if err := t.walk(m.root); err != nil {
		return &DamageError{File: path, What: err.Error()}
	}
	return nil
}

func (t *tree) walk(id int64) error {
	n := binary.NativeEndian
	if id < 2 || id >= t.m.pages {
		return fmt.Errorf("page %d is not there", id)
	}
	if t.seen[id] {
		return fmt.Errorf("page %d is reached twice", id)
	}
	t.seen[id] = true
	head := make([]byte, pageHeader)
	if _, err := t.f.ReadAt(head, id*t.m.pageSize); err != nil {
		return err
	}
	kind, count, over := n.Uint16(head[8:]), int(n.Uint16(head[10:])), int64(n.Uint32(head[12:]))
	if n.Uint64(head) != uint64(id) || kind != isBranch && kind != isLeaf || id+over >= t.m.pages {
		return fmt.Errorf("page %d is another", id)
	}
	b := make([]byte, (over+1)*t.m.pageSize)
	if _, err := t.f.ReadAt(b, id*t.m.pageSize); err != nil {
		return err
	}
	for i := range count {
		at := pageHeader + 16*i
		if at+16 > len(b) {
			return fmt.Errorf("page %d has too many elements", id)
		}
		if err := t.element(kind, b, at); err != nil {
			return err
		}
	}
	return nil
}

// element follows one element of a page to the page it names, if any.
func (t *tree) element(kind uint16, b []byte, at int) error {
	n := binary.NativeEndian
	if kind == isBranch {
		return t.walk(int64(n.Uint64(b[at+8:])))
	}
	if n.Uint32(b[at:])&isBucket == 0 {
		return nil
	}
	value := int64(at) + int64(n.Uint32(b[at+4:])) + int64(n.Uint32(b[at+8:]))
	if value+8 > int64(len(b)) {
		return fmt.Errorf("a bucket lies beyond its page")
	}
	if root := int64(n.Uint64(b[value:])); root != 0 { // 0: the bucket is in the value itself
		return t.walk(root)
	}
	return nil
}
