package frontier

import (
	"encoding/binary"
	"errors"

	"curtsy/frontier/judge"
	"curtsy/internal/sum"
	"curtsy/internal/weburl"
)

// blockSize is the maximum number of entries in a block: enough to make the key's share of an entry
// negligible, few enough to decode a block quickly.
const blockSize = 512

// ErrCorrupt reports that data of the frontier was damaged after it was written.
var ErrCorrupt = errors.New("crawl.db is corrupt")

// encodeBlock encodes links one after another. A URL is stored as a difference to the one before;
// values that many entries share are stored as numbers.
//
//	entry = shared prefix, rest length, rest, via (difference), depth<<2|needed<<1|soft, redirects, how, reason
func (f *Frontier) encodeBlock(b []byte, links []Link) []byte {
	b = binary.AppendUvarint(b, uint64(len(links)))
	var prev string
	var via uint64
	for i := range links {
		l := &links[i]
		href := l.URL.String()
		n := 0
		for n < min(len(prev), len(href)) && prev[n] == href[n] {
			n++
		}
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
		b = binary.AppendUvarint(b, uint64(f.words.number(string(l.How))))
		b = binary.AppendUvarint(b, uint64(f.reasons.number(l.Reason)))
		prev, via = href, l.Via
	}
	return b
}

// decodeBlock decodes a block with its checksum, as stored in crawl.db. Class and host are part of the key.
func (f *Frontier) decodeBlock(key, sealed []byte) ([]Link, error) {
	b, ok := sum.Open(key, sealed)
	r, n := readBlock(b)
	if !ok || n > blockSize {
		return nil, ErrCorrupt
	}
	links := make([]Link, n)
	for i := range links {
		r.next()
		links[i] = f.linkOf(&r)
	}
	if r.bad {
		return nil, ErrCorrupt
	}
	return links, nil
}

// decodeOne decodes one entry of a block, and of the entries before it only what that needs.
func (f *Frontier) decodeOne(key, sealed []byte, index int) (Link, error) {
	b, ok := sum.Open(key, sealed)
	r, n := readBlock(b)
	if !ok || index < 0 || index >= n {
		return Link{}, ErrCorrupt
	}
	for range index + 1 {
		r.next()
	}
	if r.bad {
		return Link{}, ErrCorrupt
	}
	return f.linkOf(&r), nil
}

// blockReader decodes the entries of a block one after another into its own fields.
type blockReader struct {
	decoder
	href        []byte
	via         uint64
	depth       uint64 // with the flags, as encoded
	redirects   int
	how, reason uint32
}

func readBlock(b []byte) (r blockReader, n int) {
	r.b = b
	v := r.uvarint()
	if r.bad || v > blockSize {
		return r, blockSize + 1
	}
	return r, int(v)
}

func (r *blockReader) next() {
	shared := int(r.uvarint())
	rest := r.bytes(int(r.uvarint()))
	if r.bad || shared < 0 || shared > len(r.href) {
		r.bad = true
		return
	}
	r.href = append(r.href[:shared], rest...)
	r.via += uint64(r.varint())
	r.depth = r.uvarint()
	r.redirects = int(r.uvarint())
	r.how, r.reason = uint32(r.uvarint()), uint32(r.uvarint())
}

func (f *Frontier) linkOf(r *blockReader) Link {
	return Link{
		URL: weburl.FromCanonical(string(r.href)), Via: r.via,
		Depth: int(r.depth >> 2), Needed: r.depth&2 != 0, Soft: r.depth&1 != 0,
		Redirects: r.redirects, How: judge.How(f.words.text(r.how)), Reason: f.reasons.text(r.reason),
	}
}

// decoder reads varints. An error sets bad, for good.
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
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1) // zigzag, as in binary.AppendVarint
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
