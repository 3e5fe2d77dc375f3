package rules

import "strings"

// manyRules is the number of rules from which on a path's grams are checked first: a path without a gram
// that a pattern requires cannot match. This saves searching for thousands of patterns of a hostile file.
const manyRules = 256

// grams is the set of three-octet sequences in a path, as a Bloom filter with one hash.
type grams [gramBits / 64]uint64

const gramBits = 1 << 14

// gram is the hash of three octets; it is never 0.
func gram(a, b, c byte) uint16 {
	return uint16((uint32(a)<<16|uint32(b)<<8|uint32(c))*2654435761>>(32-14)) | 1
}

// fill adds the grams of a path.
func (g *grams) fill(path string) {
	for i := 2; i < len(path); i++ {
		h := gram(path[i-2], path[i-1], path[i])
		g[h/64] |= 1 << (h % 64)
	}
}

// lack reports whether the path lacks a gram that a pattern requires.
func (g *grams) lack(need [2]uint16) bool {
	return need[0] != 0 && (g[need[0]/64]>>(need[0]%64)&1 == 0 || g[need[1]/64]>>(need[1]%64)&1 == 0)
}

// needs returns the first and the last gram of the pattern's longest literal piece; 0 if it is too short.
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
