package frontier

import (
	"encoding/binary"
	"errors"

	"curtsy/internal/weburl"
)

// blockSize is the most entries in a block: enough that a key costs nothing
// an entry, few enough that decoding one does not show.
const blockSize = 512

var errCorrupt = errors.New("frontier: crawl.db does not read back as it was written")

// encodeBlock writes links one after another. URLs share their beginnings
// with the one before; what many entries have in common is a number.
//
//	entry = shared prefix, rest length, rest, via (difference), depth<<2|needed<<1|soft, redirects, how, reason
func (f *Frontier) encodeBlock(b []byte, links []Link) []byte {
	b = binary.AppendUvarint(b, uint64(len(links)))
	var prev string
	var via uint64
	for i := range links {
		l := &links[i]
		href := l.URL.String()
		n := commonPrefix(prev, href)
		b = binary.AppendUvarint(b, uint64(n))
		b = binary.AppendUvarint(b, uint64(len(href)-n))
		b = append(b, href[n:]...)
		b = binary.AppendVarint(b, int64(l.Via-via))
		flags := uint64(0)
		if l.Soft {
			flags = 1
		}
		if l.Needed {
			flags |= 2
		}
		b = binary.AppendUvarint(b, uint64(l.Depth)<<2|flags)
		b = binary.AppendUvarint(b, uint64(l.Redirects))
		b = binary.AppendUvarint(b, uint64(f.words.number(l.How)))
		b = binary.AppendUvarint(b, uint64(f.words.number(l.Reason)))
		prev, via = href, l.Via
	}
	return b
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// decodeBlock reads what encodeBlock wrote. The class and host are the key's.
func (f *Frontier) decodeBlock(b []byte) ([]Link, error) {
	d := decoder{b: b}
	n := d.uvarint()
	if n > blockSize {
		return nil, errCorrupt
	}
	links := make([]Link, n)
	var prev []byte
	var via uint64
	for i := range links {
		l := &links[i]
		shared := int(d.uvarint())
		rest := d.bytes(int(d.uvarint()))
		if d.bad || shared > len(prev) {
			return nil, errCorrupt
		}
		prev = append(prev[:shared], rest...)
		via += uint64(d.varint())
		depth := d.uvarint()
		l.URL, l.Via = weburl.Canonical(string(prev)), via
		l.Depth, l.Needed, l.Soft = int(depth>>2), depth&2 != 0, depth&1 != 0
		l.Redirects = int(d.uvarint())
		l.How = f.words.text(uint32(d.uvarint()))
		l.Reason = f.words.text(uint32(d.uvarint()))
	}
	if d.bad {
		return nil, errCorrupt
	}
	return links, nil
}

// decoder reads varints; once bad, it stays bad.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.bad = true
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

// names numbers texts, so that an entry holds a number in place of a text.
type names struct {
	list  []string
	index map[string]uint32
	saved int // how many of list are on disk
}

func (n *names) number(s string) uint32 {
	if i, ok := n.index[s]; ok {
		return i
	}
	if n.index == nil {
		n.index = map[string]uint32{}
	}
	i := uint32(len(n.list))
	n.index[s] = i
	n.list = append(n.list, s)
	return i
}

func (n *names) find(s string) (uint32, bool) {
	i, ok := n.index[s]
	return i, ok
}

func (n *names) text(i uint32) string {
	if int(i) >= len(n.list) {
		return ""
	}
	return n.list[i]
}
