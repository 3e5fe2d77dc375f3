// Package corpus describes the texts of a site for their use as data: language, boilerplate and
// near-duplicates. It does no input or output except for temporary files, and takes 16 MB of
// memory and 8 octets a page.
//
//	corpus.go    the language of a text, and the blocks that many pages have
//	minhash.go   which pages are nearly the same
package corpus

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"

	"github.com/abadojack/whatlanggo"
	"golang.org/x/text/language"

	"curtsy/publish/search"
)

// Language returns the language of a text as an ISO 639-3 code, and the confidence from 0 to 1;
// "" and 0 if the text is too short or ambiguous. Common words at its beginning decide for most
// texts; a statistical model, some ten times slower, decides the rest.
func Language(text string) (code string, score float64) {
	const (
		fewestWords  = 12
		fewestOctets = 100
		most         = 1 << 10
	)
	langs, lead, words := search.CommonLanguages(text)
	if words < fewestWords {
		return "", 0
	}
	if len(langs) == 1 {
		return language.MustParseBase(langs[0]).ISO3(), lead
	}
	if len(text) < fewestOctets {
		return "", 0
	}
	info := whatlanggo.Detect(text[:min(len(text), most)])
	if code = info.Lang.Iso6393(); code == "" || !info.IsReliable() {
		return "", 0
	}
	base := strings.Replace(info.Lang.Iso6391(), "nb", "no", 1)
	if info.Script == unicode.Latin && search.HasCommonWords(base) && !slices.Contains(langs, base) {
		return "", 0 // lists of names are detected as French
	}
	return code, info.Confidence
}

// Blocks estimates on how many pages a block of text occurs, with a count-min sketch (Cormode
// and Muthukrishnan): it never counts too few, and overcounts by a few millionths of all
// blocks.
type Blocks struct {
	pages int
	seed  maphash.Seed
	count [rows][]uint32
	seen  map[uint64]bool // block hashes of the current page
}

const (
	rows  = 4
	width = 1 << 20
	// A block is boilerplate if it occurs on more than one in oneIn pages, and on at least
	// fewest.
	oneIn  = 20
	fewest = 5
)

// NewBlocks returns empty counts.
func NewBlocks() *Blocks {
	b := &Blocks{seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
	for i := range rows {
		b.count[i] = make([]uint32, width)
	}
	return b
}

// Add counts the blocks of a page, each once.
func (b *Blocks) Add(texts []string) {
	b.pages++
	clear(b.seen)
	for _, text := range texts {
		h := maphash.String(b.seed, text)
		if b.seen[h] {
			continue
		}
		b.seen[h] = true
		for i := range rows {
			b.count[i][place(h, i)]++
		}
	}
}

// place is the column of a block in a row of the sketch, derived from two hashes (Kirsch and
// Mitzenmacher 2006).
func place(h uint64, row int) uint32 {
	return (uint32(h) + uint32(row)*(uint32(h>>32)|1)) % width
}

// Boilerplate returns the blocks of a page, each once, that are on more than 5 % of all pages.
func (b *Blocks) Boilerplate(texts []string) []string {
	list := []string{}
	clear(b.seen)
	for _, text := range texts {
		h := maphash.String(b.seed, text)
		if n := b.pagesWith(h); n >= fewest && n*oneIn > b.pages && !b.seen[h] {
			list = append(list, text)
			b.seen[h] = true
		}
	}
	return list
}

func (b *Blocks) pagesWith(h uint64) int {
	least := b.count[0][place(h, 0)]
	for i := 1; i < rows; i++ {
		least = min(least, b.count[i][place(h, i)])
	}
	return int(least)
}
