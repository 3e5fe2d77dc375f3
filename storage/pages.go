package storage

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The structure of bbolt's file format. bbolt trusts it: a page that refers back to itself makes it loop
// forever, and an element beyond its page makes it read invalid data.
const (
	pageElement = 16
	pageBranch  = 0x01
	pageLeaf    = 0x02
	pageFree    = 0x10
	bucketLeaf  = 0x01 // flag of an element whose value is a bucket
	maxDepth    = 64   // levels of branches, each with at least two children
)

// pages checks the structure of a bbolt file: every page is reached once and is within the file, every
// element is within its page, and no page in use is listed as free.
type pages struct {
	file io.ReaderAt
	size int    // of a page, in octets
	high uint64 // number of pages
	used []uint64
	head [pageHeader]byte // header of the page being read
}

// checkPages checks a bbolt file of the given length; the error says what is wrong with it.
func checkPages(f io.ReaderAt, octets int64) error {
	m := newestMeta(f)
	if m.pageSize < 512 || m.pageSize > 1<<20 || m.pages < 3 {
		return fmt.Errorf("both its meta pages are damaged")
	}
	if m.pages > octets/m.pageSize {
		return fmt.Errorf("truncated: %d pages expected", m.pages)
	}
	p := &pages{file: f, size: int(m.pageSize), high: uint64(m.pages), used: make([]uint64, m.pages/64+1)}
	if err := p.walk(uint64(m.root), 0); err != nil {
		return err
	}
	return p.freelist(uint64(m.freelist))
}

// page reads a page with its overflow pages and marks them as used.
func (p *pages) page(id uint64) (flags uint16, count int, b []byte, err error) {
	if id < 2 || id >= p.high {
		return 0, 0, nil, fmt.Errorf("page %d: there are %d pages", id, p.high)
	}
	at := int64(id) * int64(p.size)
	if _, err := p.file.ReadAt(p.head[:], at); err != nil {
		return 0, 0, nil, err
	}
	n := binary.NativeEndian
	overflow := uint64(n.Uint32(p.head[12:]))
	if own := n.Uint64(p.head[:]); own != id {
		return 0, 0, nil, fmt.Errorf("page %d: is labelled page %d", id, own)
	}
	if id+overflow >= p.high {
		return 0, 0, nil, fmt.Errorf("page %d: reaches beyond the end", id)
	}
	for part := id; part <= id+overflow; part++ {
		if p.isUsed(part) {
			return 0, 0, nil, fmt.Errorf("page %d: in use twice", part)
		}
		p.used[part/64] |= 1 << (part % 64)
	}
	b = make([]byte, p.size*int(overflow+1))
	_, err = p.file.ReadAt(b, at)
	return n.Uint16(b[8:]), int(n.Uint16(b[10:])), b, err
}

func (p *pages) isUsed(id uint64) bool { return p.used[id/64]>>(id%64)&1 == 1 }

// walk checks a page and all pages below it.
func (p *pages) walk(id uint64, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("page %d: is nested too deeply", id)
	}
	flags, count, b, err := p.page(id)
	if err != nil {
		return err
	}
	if flags != pageBranch && flags != pageLeaf || flags == pageBranch && count == 0 {
		return fmt.Errorf("page %d: is not a page of keys", id)
	}
	if pageHeader+count*pageElement > len(b) {
		return fmt.Errorf("page %d: %d elements do not fit", id, count)
	}
	check := p.branch
	if flags == pageLeaf {
		check = p.leaf
	}
	for i := range count {
		if err := check(id, b[pageHeader+i*pageElement:], depth); err != nil {
			return err
		}
	}
	return nil
}

// branch checks an element that refers to another page: offset of the key from the element, its length, the
// page. e extends from the element to the end of the page.
func (p *pages) branch(id uint64, e []byte, depth int) error {
	n := binary.NativeEndian
	if uint64(n.Uint32(e))+uint64(n.Uint32(e[4:])) > uint64(len(e)) {
		return fmt.Errorf("page %d: a key lies beyond its end", id)
	}
	return p.walk(n.Uint64(e[8:]), depth+1)
}

// leaf checks an element with a value: flags, offset of the key, its length, length of the value after it.
func (p *pages) leaf(id uint64, e []byte, depth int) error {
	value, isBucket, ok := valueOf(e)
	switch {
	case !ok:
		return fmt.Errorf("page %d: a value lies beyond its end", id)
	case !isBucket:
		return nil
	case len(value) < 16:
		return fmt.Errorf("page %d: a bucket is cut off", id)
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return p.walk(root, depth+1)
	}
	return inline(id, value[16:])
}

// valueOf returns the value of a leaf element.
func valueOf(e []byte) (value []byte, isBucket, ok bool) {
	n := binary.NativeEndian
	from := uint64(n.Uint32(e[4:])) + uint64(n.Uint32(e[8:]))
	to := from + uint64(n.Uint32(e[12:]))
	if to > uint64(len(e)) {
		return nil, false, false
	}
	return e[from:to], n.Uint32(e)&bucketLeaf != 0, true
}

// inline checks a bucket within a value: one leaf without sub-buckets.
func inline(id uint64, b []byte) error {
	broken := fmt.Errorf("page %d: an inline bucket is corrupt", id)
	if len(b) < pageHeader || binary.NativeEndian.Uint16(b[8:]) != pageLeaf {
		return broken
	}
	count := int(binary.NativeEndian.Uint16(b[10:]))
	if pageHeader+count*pageElement > len(b) {
		return broken
	}
	for i := range count {
		if _, isBucket, ok := valueOf(b[pageHeader+i*pageElement:]); isBucket || !ok {
			return broken
		}
	}
	return nil
}

// freelist checks that no page in use is listed as free.
func (p *pages) freelist(id uint64) error {
	flags, count, b, err := p.page(id)
	if err != nil {
		return err
	}
	if flags != pageFree {
		return fmt.Errorf("page %d: is not the list of free pages", id)
	}
	list, n := b[pageHeader:], uint64(count)
	if count == 0xFFFF { // the number does not fit in the header
		list, n = list[8:], binary.NativeEndian.Uint64(list)
	}
	if n > uint64(len(list))/8 {
		return fmt.Errorf("page %d: %d free pages do not fit", id, n)
	}
	last := uint64(1)
	for list = list[:n*8]; len(list) > 0; list = list[8:] {
		free := binary.NativeEndian.Uint64(list)
		if free <= last || free >= p.high || p.isUsed(free) {
			return fmt.Errorf("page %d: lists page %d as free, which it is not", id, free)
		}
		last = free
	}
	return nil
}
