package rules

import "strings"

// manyRules is from how many rules on a path's grams are looked at first: a
// path without three octets in a row that a pattern needs is no match. It
// spares a hostile file's thousands of patterns a search each.
const manyRules = 256

// grams are the runs of three octets in a path, as a set that may hold more.
type grams [gramBits / 64]uint64

const gramBits = 1 << 14

// gram is the hash of three octets; 0 stands for none.
func gram(a, b, c byte) uint16 {
	return uint16((uint32(a)<<16|uint32(b)<<8|uint32(c))*2654435761>>(32-14)) | 1
}

// fill puts in what a path holds.
func (g *grams) fill(path string) {
	for i := 2; i < len(path); i++ {
		h := gram(path[i-2], path[i-1], path[i])
		g[h/64] |= 1 << (h % 64)
	}
}

// lack says whether a pattern needs what is not there.
func (g *grams) lack(need [2]uint16) bool {
	return need[0] != 0 && (g[need[0]/64]>>(need[0]%64)&1 == 0 || g[need[1]/64]>>(need[1]%64)&1 == 0)
}

// needs are the first and the last gram of the pattern's longest piece.
func (p *pattern) needs() (need [2]uint16) {
	var longest string
	for piece := range strings.SplitSeq(p.text, "*") {
		if len(piece) > len(longest) {
			longest = piece
		}
	}
	if n := len(longest); n >= 3 {
		need[0] = gram(longest[0], longest[1], longest[2])
		need[1] = gram(longest[n-3], longest[n-2], longest[n-1])
	}
	return need
}
