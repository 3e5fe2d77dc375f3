// Package corpus answers: what should somebody know of the texts of a site before
// using them as data? It is pure: texts in, values out, in memory that grows with the
// number of pages by a few octets each.
//
//	corpus.go    the language of a text, and the blocks that many pages have
//	minhash.go   which pages are nearly the same
package corpus

import (
	"hash/maphash"

	"github.com/abadojack/whatlanggo"
)

// Language is the language of a text in ISO 639-3, and how sure that is, from 0 to 1;
// "" where there is too little of it.
func Language(text string) (code string, score float64) {
	const enough, most = 20, 8 << 10
	if len(text) < enough {
		return "", 0
	}
	text = text[:min(len(text), most)]
	info := whatlanggo.Detect(text)
	if code = info.Lang.Iso6393(); code == "" {
		return "", 0
	}
	return code, info.Confidence
}

// Blocks counts on how many pages a block of text stands: a count-min sketch (Cormode
// and Muthukrishnan), which counts too many rather than too few, by a few millionths
// of all blocks.
type Blocks struct {
	pages int
	seeds [rows]maphash.Seed
	count [rows][]uint32
	seen  map[uint64]bool // of one page
}

const (
	rows  = 4
	width = 1 << 20
	// A block is boilerplate if it stands on more than one in 20 pages, and on at
	// least fewest.
	oneIn  = 20
	fewest = 5
)

// NewBlocks counts from nothing.
func NewBlocks() *Blocks {
	b := &Blocks{seen: map[uint64]bool{}}
	for i := range rows {
		b.seeds[i], b.count[i] = maphash.MakeSeed(), make([]uint32, width)
	}
	return b
}

// Add takes in the blocks of a page, each of which counts once.
func (b *Blocks) Add(texts []string) {
	b.pages++
	clear(b.seen)
	for _, text := range texts {
		h := maphash.String(b.seeds[0], text)
		if b.seen[h] {
			continue
		}
		b.seen[h] = true
		for i := range rows {
			b.count[i][maphash.String(b.seeds[i], text)%width]++
		}
	}
}

// Boilerplate are those blocks of a page, each once, that stand on more than 5 % of
// all pages.
func (b *Blocks) Boilerplate(texts []string) []string {
	list := []string{}
	clear(b.seen)
	for _, text := range texts {
		h := maphash.String(b.seeds[0], text)
		if n := b.pagesWith(text); !b.seen[h] && n >= fewest && n*oneIn > b.pages {
			list = append(list, text)
		}
		b.seen[h] = true
	}
	return list
}

func (b *Blocks) pagesWith(text string) int {
	least := b.count[0][maphash.String(b.seeds[0], text)%width]
	for i := 1; i < rows; i++ {
		least = min(least, b.count[i][maphash.String(b.seeds[i], text)%width])
	}
	return int(least)
}
