package storage

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The file format of bbolt, as far as its structure goes. bbolt trusts it:
// a page that leads back to itself sends it round for ever, an element that
// lies beyond its page makes it read what is not there.
const (
	pageElement = 16
	pageBranch  = 0x01
	pageLeaf    = 0x02
	pageFree    = 0x10
	bucketLeaf  = 0x01 // flag of an element whose value is a bucket
	maxDepth    = 64   // of branches: each has two children at least
)

// pages compares the structure of a bbolt file with the format: every page
// is reached once and within the file, every element lies within its page,
// and no page in use counts as free.
type pages struct {
	file io.ReaderAt
	size int    // of a page
	high uint64 // pages there are
	used []uint64
	buf  []byte
}

// checkPages reads a bbolt file of that many octets; the error says what is
// wrong with it.
func checkPages(f io.ReaderAt, octets int64) error {
	m := newestMeta(f)
	if m.pageSize < 512 || m.pageSize > 1<<20 || m.pages < 3 {
		return fmt.Errorf("both its meta pages are damaged")
	}
	if m.pages > octets/m.pageSize {
		return fmt.Errorf("truncated: %d pages expected", m.pages)
	}
	p := &pages{file: f, size: int(m.pageSize), high: uint64(m.pages), used: make([]uint64, m.pages/64+1),
		buf: make([]byte, m.pageSize)}
	if err := p.walk(uint64(m.root), 0); err != nil {
		return err
	}
	return p.freelist(uint64(m.freelist))
}

// page reads the header and the beginning of a page, and takes note that it
// is in use.
func (p *pages) page(id uint64) (flags uint16, count int, room int, err error) {
	if id < 2 || id >= p.high {
		return 0, 0, 0, fmt.Errorf("page %d: there are %d pages", id, p.high)
	}
	if _, err := p.file.ReadAt(p.buf[:p.size], int64(id)*int64(p.size)); err != nil {
		return 0, 0, 0, err
	}
	b := p.buf
	overflow := uint64(binary.NativeEndian.Uint32(b[12:]))
	if own := binary.NativeEndian.Uint64(b); own != id {
		return 0, 0, 0, fmt.Errorf("page %d: is labelled page %d", id, own)
	}
	if id+overflow >= p.high {
		return 0, 0, 0, fmt.Errorf("page %d: reaches beyond the end", id)
	}
	for at := id; at <= id+overflow; at++ {
		if p.isUsed(at) {
			return 0, 0, 0, fmt.Errorf("page %d: in use twice", at)
		}
		p.used[at/64] |= 1 << (at % 64)
	}
	return binary.NativeEndian.Uint16(b[8:]), int(binary.NativeEndian.Uint16(b[10:])), p.size * int(overflow+1), nil
}

func (p *pages) isUsed(id uint64) bool { return p.used[id/64]>>(id%64)&1 == 1 }

// walk checks a page and all that it leads to.
func (p *pages) walk(id uint64, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("page %d: is nested too deeply", id)
	}
	flags, count, room, err := p.page(id)
	if err != nil {
		return err
	}
	if flags != pageBranch && flags != pageLeaf || flags == pageBranch && count == 0 {
		return fmt.Errorf("page %d: is not a page of keys", id)
	}
	if pageHeader+count*pageElement > room {
		return fmt.Errorf("page %d: %d elements do not fit", id, count)
	}
	elements := make([]byte, count*pageElement)
	if n := copy(elements, p.buf[pageHeader:]); n < len(elements) {
		if _, err := p.file.ReadAt(elements, int64(id)*int64(p.size)+pageHeader); err != nil {
			return err
		}
	}
	for i := range count {
		at := pageHeader + i*pageElement
		next := p.branch
		if flags == pageLeaf {
			next = p.leaf
		}
		if err := next(id, elements[i*pageElement:][:pageElement], room-at, int64(id)*int64(p.size)+int64(at),
			depth); err != nil {
			return err
		}
	}
	return nil
}

// branch checks an element that leads to another page: offset of the key from
// the element, its length, the page. room is what lies from the element to
// the page's end.
func (p *pages) branch(id uint64, e []byte, room int, _ int64, depth int) error {
	if uint64(binary.NativeEndian.Uint32(e))+uint64(binary.NativeEndian.Uint32(e[4:])) > uint64(room) {
		return fmt.Errorf("page %d: a key lies beyond its end", id)
	}
	return p.walk(binary.NativeEndian.Uint64(e[8:]), depth+1)
}

// leaf checks an element that holds a value: flags, offset of the key, its
// length, that of the value behind it.
func (p *pages) leaf(id uint64, e []byte, room int, at int64, depth int) error {
	key, value := uint64(binary.NativeEndian.Uint32(e[4:]))+uint64(binary.NativeEndian.Uint32(e[8:])),
		uint64(binary.NativeEndian.Uint32(e[12:]))
	if key+value > uint64(room) {
		return fmt.Errorf("page %d: a value lies beyond its end", id)
	}
	if binary.NativeEndian.Uint32(e)&bucketLeaf == 0 {
		return nil
	}
	if value < 16 {
		return fmt.Errorf("page %d: a bucket is cut off", id)
	}
	b := make([]byte, value)
	if _, err := p.file.ReadAt(b, at+int64(key)); err != nil {
		return err
	}
	if root := binary.NativeEndian.Uint64(b); root != 0 {
		return p.walk(root, depth+1)
	}
	return inline(id, b[16:])
}

// inline checks a bucket that lies within a value: one leaf, without buckets
// of its own.
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
		at := pageHeader + i*pageElement
		e := b[at:]
		end := uint64(binary.NativeEndian.Uint32(e[4:])) + uint64(binary.NativeEndian.Uint32(e[8:])) + uint64(binary.NativeEndian.Uint32(e[12:]))
		if binary.NativeEndian.Uint32(e)&bucketLeaf != 0 || end > uint64(len(b)-at) {
			return broken
		}
	}
	return nil
}

// freelist checks that no page in use is to be written over.
func (p *pages) freelist(id uint64) error {
	flags, count, room, err := p.page(id)
	if err != nil {
		return err
	}
	if flags != pageFree {
		return fmt.Errorf("page %d: is not the list of free pages", id)
	}
	at, n := int64(pageHeader), uint64(count)
	if count == 0xFFFF { // too many for the header
		var b [8]byte
		if _, err := p.file.ReadAt(b[:], int64(id)*int64(p.size)+at); err != nil {
			return err
		}
		at, n = at+8, binary.NativeEndian.Uint64(b[:])
	}
	if n > uint64(room)/8 || uint64(at)+n*8 > uint64(room) {
		return fmt.Errorf("page %d: %d free pages do not fit", id, n)
	}
	list := make([]byte, n*8)
	if _, err := p.file.ReadAt(list, int64(id)*int64(p.size)+at); err != nil {
		return err
	}
	last := uint64(1)
	for ; len(list) > 0; list = list[8:] {
		free := binary.NativeEndian.Uint64(list)
		if free <= last || free >= p.high || p.isUsed(free) {
			return fmt.Errorf("page %d: lists page %d as free, which it is not", id, free)
		}
		last = free
	}
	return nil
}
