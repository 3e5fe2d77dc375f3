package warc

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// deflater makes gzip members (RFC 1952, RFC 1951) of records in memory, for
// crawls that are faster than a general compressor. It does what level 1 of
// gzip does, but it makes its Huffman code only now and then, from the
// records before: the pages of one site are alike. Each member stays complete
// in itself, as its code is written at its beginning.
//
// Against level 1 of klauspost/compress on pages of the Java documentation it
// takes three quarters of the time for the same size, and a tenth for the
// short records beside them (see BenchmarkDeflate).
type deflater struct {
	table [1 << tableBits]uint32 // where a hash was last seen, plus base
	base  uint32                 // positions below it are of earlier records
	code  code                   // for records long enough to carry it
	fixed code                   // RFC 1951 §3.2.6, for short ones
	ready bool
	stale int // records since code was made
	lits  [numLits]uint32
	dists [numDists]uint32
	out   bitWriter
	room  []byte
	// counting is on for some records only: it costs as much as writing.
	counting bool
}

const (
	tableBits = 14
	window    = 32 << 10 // how far back a match may lie
	numLits   = 286      // literals, end of block, lengths
	numDists  = 30
	endBlock  = 256
	// shortRecord is the size up to which the fixed code is shorter.
	shortRecord = 1500
	// renewAfter is how many records share a code.
	renewAfter = 64
	// countEvery is how many records there are to one whose symbols are counted.
	countEvery = 8
)

// appendMember appends src as one gzip member.
func (d *deflater) appendMember(dst, src []byte) []byte {
	if !d.ready {
		d.fixed.setFixed()
		d.code.setFixed()
		d.ready, d.stale = true, renewAfter
	}
	// Compressed into a buffer that is kept: how much it takes is
	// known afterwards only, and dst is held for longer.
	d.out.b = append(d.room[:0], 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)
	d.out.bitQueue = bitQueue{}
	switch {
	case len(src) <= shortRecord || d.stale >= renewAfter && d.code.fresh == 0:
		d.block(src, &d.fixed)
	default:
		d.block(src, &d.code)
	}
	if len(src) > shortRecord {
		if d.stale++; d.stale >= renewAfter || d.code.fresh == 0 {
			d.code.build(&d.lits, &d.dists)
			d.stale = 0
		}
	}
	b := d.out.finish()
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(src))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(src)))
	d.room = b
	return append(dst, b...)
}

// appendStored appends src as one gzip member without compressing it: for
// what is compressed already.
func appendStored(dst, src []byte) []byte {
	b := append(dst, 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)
	for rest := src; ; {
		n := min(len(rest), 65535)
		last := byte(0)
		if n == len(rest) {
			last = 1
		}
		b = append(b, last, byte(n), byte(n>>8), ^byte(n), ^byte(n>>8))
		b = append(b, rest[:n]...)
		if rest = rest[n:]; last == 1 {
			break
		}
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(src))
	return binary.LittleEndian.AppendUint32(b, uint32(len(src)))
}

// block writes src as the one and last block of a member.
func (d *deflater) block(src []byte, c *code) {
	w := &d.out
	w.reserve(len(src) + len(src)/2 + 1024) // twelve bits for eight at worst
	w.put(1, 1)
	c.writeHeader(w)
	d.counting = d.stale%countEvery == 0
	d.matches(src, c)
	w.code(c.lits[endBlock])
	d.lits[endBlock]++
}

// matches writes literals and matches: greedy, one candidate a position,
// looking at fewer positions the longer nothing matches.
func (d *deflater) matches(src []byte, c *code) {
	if d.base > 1<<31 {
		clear(d.table[:])
		d.base = 0
	}
	base := d.base + window + 1
	d.base = base + uint32(len(src))
	buf, out := d.out.open()
	emitted, s := 0, 0
	for limit := len(src) - 12; ; {
		at, n := 0, 0
		for s <= limit {
			v := binary.LittleEndian.Uint64(src[s:])
			h := hash5(v)
			at = int(d.table[h]) - int(base)
			d.table[h] = base + uint32(s)
			if at < 0 || s-at > window || uint32(v) != binary.LittleEndian.Uint32(src[at:]) {
				s += 1 + (s-emitted)>>5
				continue
			}
			for s > emitted && at > 0 && src[s-1] == src[at-1] {
				s--
				at--
			}
			n = matchLength(src, s, at)
			break
		}
		if n == 0 {
			break
		}
		out = d.literals(buf, out, src[emitted:s], c)
		out = d.match(buf, out, n, s-at, c)
		s += n
		emitted = s
		if s <= limit {
			d.table[hash5(binary.LittleEndian.Uint64(src[s-2:]))] = base + uint32(s-2)
		}
	}
	d.out.close(buf, d.literals(buf, out, src[emitted:], c))
}

func hash5(v uint64) uint64 { return (v << 24) * 889523592379 >> (64 - tableBits) }

// matchLength is how far src agrees at two places.
func matchLength(src []byte, s, at int) int {
	n := 4
	for s+n+8 <= len(src) {
		x := binary.LittleEndian.Uint64(src[s+n:]) ^ binary.LittleEndian.Uint64(src[at+n:])
		if x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
		n += 8
	}
	for s+n < len(src) && src[s+n] == src[at+n] {
		n++
	}
	return n
}

// literals writes literals, four between two looks at the room left in acc:
// their words have 12 bits at most.
func (d *deflater) literals(buf []byte, w bitQueue, lits []byte, c *code) bitQueue {
	if d.counting {
		for _, b := range lits {
			d.lits[b]++
		}
	}
	for len(lits) >= 4 {
		a, b, e, f := c.lits[lits[0]], c.lits[lits[1]], c.lits[lits[2]], c.lits[lits[3]]
		w = w.add(uint64(a>>8), uint(a&0xff))
		w = w.add(uint64(b>>8), uint(b&0xff))
		w = w.add(uint64(e>>8), uint(e&0xff))
		w = w.add(uint64(f>>8), uint(f&0xff))
		w = w.spill(buf)
		lits = lits[4:]
	}
	for _, b := range lits {
		a := c.lits[b]
		w = w.add(uint64(a>>8), uint(a&0xff))
	}
	return w.spill(buf)
}

// match writes a match of any length, in pieces of at most 258 (RFC 1951
// §3.2.5). A piece has 12+5+12+13 bits at most.
func (d *deflater) match(buf []byte, w bitQueue, n, dist int, c *code) bitQueue {
	sym := distSymbol(dist)
	word := c.dists[sym]
	extra := uint64(dist-1) & (1<<distExtra[sym] - 1)
	for n > 0 {
		m := min(n, 258)
		if rest := n - m; rest > 0 && rest < 3 {
			m -= 3
		}
		ls := lengthSymbol[m-3]
		if d.counting {
			d.lits[257+int(ls)]++
			d.dists[sym]++
		}
		a := c.lits[257+int(ls)]
		w = w.add(uint64(a>>8), uint(a&0xff))
		w = w.add(uint64(m-lengthBase[ls]), uint(lengthExtra[ls]))
		w = w.add(uint64(word>>8), uint(word&0xff))
		w = w.add(extra, uint(distExtra[sym]))
		w = w.spill(buf)
		n -= m
	}
	return w
}

// distSymbol is the symbol of a distance: two for each power of two.
func distSymbol(dist int) int {
	d := uint32(dist - 1)
	if d < 4 {
		return int(d)
	}
	top := bits.Len32(d) - 1
	return 2*top + int(d>>(top-1)&1)
}

var (
	lengthExtra = [29]uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0}
	distExtra   = [numDists]uint8{0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13}
	lengthBase  = lengthBases()
	// lengthSymbol is the symbol of a length, less 257, by the length less 3.
	lengthSymbol = lengthSymbols()
)

func lengthBases() (base [29]int) {
	at := 3
	for i := range 28 {
		base[i] = at
		at += 1 << lengthExtra[i]
	}
	base[28] = 258
	return base
}

func lengthSymbols() (sym [256]uint8) {
	base := lengthBases()
	for i := range 28 {
		for n := base[i]; n < base[i]+1<<lengthExtra[i] && n <= 257; n++ {
			sym[n-3] = uint8(i)
		}
	}
	sym[258-3] = 28
	return sym
}

// bitWriter writes bits, the lowest first.
type bitWriter struct {
	b []byte
	bitQueue
}

// bitQueue is where the next bits go: acc holds n of them that are not yet
// written, at is where they will be. In the hot loops it is passed by value
// beside the room that open gives, so that it stays in registers.
type bitQueue struct {
	at  int
	acc uint64
	n   uint
}

func (w *bitWriter) reserve(n int) {
	if cap(w.b)-len(w.b) < n {
		w.b = append(make([]byte, 0, len(w.b)+n), w.b...)
	}
}

// open gives all the room there is; close takes it back.
func (w *bitWriter) open() ([]byte, bitQueue) {
	w.at = len(w.b)
	return w.b[:cap(w.b)], w.bitQueue
}

func (w *bitWriter) close(buf []byte, q bitQueue) {
	w.b, w.bitQueue = buf[:q.at], q
}

// add adds bits; at most 56 fit between two spills.
func (q bitQueue) add(v uint64, n uint) bitQueue {
	q.acc |= v << (q.n & 63)
	q.n += n
	return q
}

// spill writes the whole octets of acc: eight at a stroke, of which those
// that are not yet whole are written over later.
func (q bitQueue) spill(buf []byte) bitQueue {
	binary.LittleEndian.PutUint64(buf[q.at:], q.acc)
	q.at += int(q.n >> 3)
	q.acc >>= q.n &^ 7 & 63
	q.n &= 7
	return q
}

// put adds the n lowest bits of v, n at most 16.
func (w *bitWriter) put(v uint64, n uint) {
	w.reserve(8)
	buf, q := w.open()
	w.close(buf, q.add(v, n).spill(buf))
}

// code adds a code word: its bits and, in the low byte, how many.
func (w *bitWriter) code(c uint32) { w.put(uint64(c>>8), uint(c&0xff)) }

// finish fills up the last octet.
func (w *bitWriter) finish() []byte {
	if w.n > 0 {
		w.b = append(w.b, byte(w.acc))
	}
	return w.b
}
