package warc

import (
	"math/bits"
	"slices"
)

// code is a pair of Huffman codes for one deflate block, and the header that
// tells a reader of them. Code words are bits<<8 | how many, ready to write.
type code struct {
	lits   [numLits]uint32
	dists  [numDists]uint32
	header bitWriter
	fresh  int // times built; 0 is the fixed code
}

// maxCodeBits is the longest code word that is made. Deflate knows 15 bits (RFC
// 1951 §3.2.7); with 12, four literals fit between two spills.
const maxCodeBits = 12

// setFixed makes it the code of RFC 1951 §3.2.6.
func (c *code) setFixed() {
	var lits [288]uint8
	for i := range lits {
		switch {
		case i < 144:
			lits[i] = 8
		case i < 256:
			lits[i] = 9
		case i < 280:
			lits[i] = 7
		default:
			lits[i] = 8
		}
	}
	var words [288]uint32
	assign(words[:], lits[:])
	copy(c.lits[:], words[:])
	var dists [32]uint8
	for i := range dists {
		dists[i] = 5
	}
	assign(words[:32], dists[:])
	copy(c.dists[:], words[:32])
	c.header.put(1, 2)
}

// build makes the code that fits the counts, which are then halved: what
// comes later weighs more. Every symbol gets a word, since what it is used
// for next is not known.
func (c *code) build(lits *[numLits]uint32, dists *[numDists]uint32) {
	var ll [numLits]uint8
	var dl [numDists]uint8
	lengths(ll[:], lits[:])
	lengths(dl[:], dists[:])
	assign(c.lits[:], ll[:])
	assign(c.dists[:], dl[:])
	c.header = headerOf(ll[:], dl[:])
	c.fresh++
	for i := range lits {
		lits[i] /= 2
	}
	for i := range dists {
		dists[i] /= 2
	}
}

// writeHeader writes the block's type and, for a code of its own, that code.
func (c *code) writeHeader(w *bitWriter) {
	for _, b := range c.header.b {
		w.put(uint64(b), 8)
	}
	for n, acc := c.header.n, c.header.acc; n > 0; n -= min(n, 8) {
		w.put(acc&(1<<min(n, 8)-1), min(n, 8))
		acc >>= 8
	}
}

// lengths gives each symbol the length of its word: Huffman's algorithm over
// the sorted counts, then words that came out too long are shortened and as
// much room taken from others (the code stays complete).
func lengths(out []uint8, counts []uint32) {
	type node struct {
		weight      uint64
		left, right int // -1 for a leaf
	}
	n := len(counts)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(counts[a]) - int(counts[b]) })
	nodes := make([]node, 0, 2*n)
	for _, sym := range order {
		nodes = append(nodes, node{uint64(counts[sym])*16 + 1, -1, -1})
	}
	leaf, inner := 0, n
	smallest := func() int {
		if leaf < n && (inner >= len(nodes) || nodes[leaf].weight <= nodes[inner].weight) {
			leaf++
			return leaf - 1
		}
		inner++
		return inner - 1
	}
	for range n - 1 {
		a := smallest()
		b := smallest()
		nodes = append(nodes, node{nodes[a].weight + nodes[b].weight, a, b})
	}
	depth := make([]uint8, len(nodes))
	for i := len(nodes) - 1; i >= n; i-- {
		depth[nodes[i].left] = depth[i] + 1
		depth[nodes[i].right] = depth[i] + 1
	}
	shorten(depth[:n])
	for i, sym := range order {
		out[sym] = depth[i]
	}
}

// shorten bounds lengths, which are those of leaves from rare to frequent, to
// maxCodeBits and mends Kraft's sum: rare words grow until it fits again.
func shorten(depth []uint8) {
	sum := 0
	for i := range depth {
		depth[i] = min(depth[i], maxCodeBits)
		sum += 1 << (maxCodeBits - depth[i])
	}
	for i := 0; sum > 1<<maxCodeBits; i = (i + 1) % len(depth) {
		if depth[i] < maxCodeBits {
			sum -= 1 << (maxCodeBits - depth[i] - 1)
			depth[i]++
		}
	}
	for i := len(depth) - 1; i >= 0; i-- {
		for depth[i] > 1 && sum+1<<(maxCodeBits-depth[i]) <= 1<<maxCodeBits {
			sum += 1 << (maxCodeBits - depth[i])
			depth[i]--
		}
	}
}

// assign gives words to lengths (RFC 1951 §3.2.2), bits reversed as deflate
// writes them.
func assign(words []uint32, lengths []uint8) {
	var count, next [maxCodeBits + 2]uint32
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	word := uint32(0)
	for n := 1; n <= maxCodeBits; n++ {
		word = (word + count[n-1]) << 1
		next[n] = word
	}
	for i, n := range lengths {
		if n > 0 {
			words[i] = uint32(bits.Reverse16(uint16(next[n]))>>(16-n))<<8 | uint32(n)
			next[n]++
		}
	}
}

// codeOrder is the order of code length codes (RFC 1951 §3.2.7).
var codeOrder = [19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// headerOf is the header of a block with its own code: its type, then the
// lengths, run-length coded, in a small Huffman code of their own.
func headerOf(lits, dists []uint8) bitWriter {
	all := append(slices.Clone(lits), dists...)
	type run struct{ sym, extra int }
	var runs []run
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		runs = append(runs, run{int(all[i]), 0})
		i++
		for n--; n >= 3; {
			m := min(n, 6)
			runs = append(runs, run{16, m - 3})
			i, n = i+m, n-m
		}
	}
	var counts [19]uint32
	for _, r := range runs {
		counts[r.sym]++
	}
	var ll [19]uint8
	short(ll[:], counts[:])
	var words [19]uint32
	assign(words[:], ll[:])
	var w bitWriter
	w.put(2, 2)
	w.put(uint64(len(lits)-257), 5)
	w.put(uint64(len(dists)-1), 5)
	w.put(19-4, 4)
	for _, sym := range codeOrder {
		w.put(uint64(ll[sym]), 3)
	}
	for _, r := range runs {
		w.code(words[r.sym])
		if r.sym == 16 {
			w.put(uint64(r.extra), 2)
		}
	}
	return w
}

// short is lengths for the 19 code length codes, whose words have at most 7
// bits: the counts are flattened until they fit.
func short(out []uint8, counts []uint32) {
	for {
		lengths(out, counts)
		if slices.Max(out) <= 7 {
			return
		}
		for i := range counts {
			counts[i] = counts[i]/2 + 1
		}
	}
}
