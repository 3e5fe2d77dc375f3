package corpus

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"curtsy/internal/extsort"
)

// One-permutation MinHash (Broder 1997; Li, Owen and Zhang 2012) with banding: two pages whose
// sets of shingles have Jaccard similarity s share a band with probability
// 1-(1-s^bandRows)^bands: 0.99 at 0.9, 0.68 at 0.8, 0.01 at 0.5.
const (
	bands    = 10
	bandRows = 10
	bins     = bands * bandRows
	throws   = 4  // bins that each shingle is hashed to: with one, short texts would leave most bins empty
	words    = 5  // per shingle
	runes    = 12 // per shingle, in scripts that do not separate words
	// A text with fewer shingles is not compared.
	fewestShingles = 8
)

// Clusters finds near-duplicate pages. Pages are numbered from 0.
type Clusters struct {
	keys   *extsort.Sorter
	hashes []uint64 // of the words of the current page
	parent []uint32
	size   []uint32
}

// NewClusters returns an empty set that spills to temporary files in dir. Close removes them.
func NewClusters(dir string) *Clusters { return &Clusters{keys: extsort.New(dir)} }

// Add adds the text of the next page.
func (c *Clusters) Add(text string) error {
	page := uint32(len(c.parent))
	c.parent = append(c.parent, page)
	least, n := c.sketch(text)
	if n < fewestShingles {
		return nil
	}
	for band := range bands {
		h := uint64(offset)
		for _, v := range least[band*bandRows : (band+1)*bandRows] {
			h = mix(h*prime ^ v)
		}
		key := binary.BigEndian.AppendUint64([]byte{byte(band)}, h)
		if err := c.keys.Add(binary.BigEndian.AppendUint32(key, page)); err != nil {
			return err
		}
	}
	return nil
}

// sketch returns the smallest shingle hash in each bin, and the number of shingles.
func (c *Clusters) sketch(text string) (least [bins]uint64, n int) {
	run := c.hash(text)
	for i := range least {
		least[i] = empty
	}
	n = len(c.hashes) - run + 1
	for i := range max(0, n) {
		h := uint64(offset)
		for _, word := range c.hashes[i : i+run] {
			h = (h ^ word) * prime
		}
		for range throws {
			h = mix(h + prime)
			bin, _ := bits.Mul64(h, bins)
			least[bin] = min(least[bin], h)
		}
	}
	if n >= fewestShingles {
		densify(&least)
	}
	return least, n
}

const empty = ^uint64(0)

// densify fills each empty bin from a non-empty bin chosen by a hash of the empty bin's number:
// equal sets stay equal, and the similarity estimate stays unbiased (Shrivastava 2017).
func densify(least *[bins]uint64) {
	from := *least
	for i := range least {
		for try := uint64(1); least[i] == empty; try++ {
			bin, _ := bits.Mul64(mix(mix(uint64(i+1)*prime+try)*prime), bins)
			least[i] = from[bin]
		}
	}
}

// mix spreads the bits of a hash (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// FNV-1a.
const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

// hash hashes the words of a text, and returns how many of them make a shingle. It is
// deterministic.
func (c *Clusters) hash(text string) (run int) {
	c.hashes = c.hashes[:0]
	for word := range strings.FieldsSeq(text) {
		h := uint64(offset)
		for i := range len(word) {
			h = (h ^ uint64(word[i])) * prime
		}
		c.hashes = append(c.hashes, h)
	}
	if len(text) <= 64 || utf8.RuneCountInString(text) <= 25*len(c.hashes) {
		return words
	}
	c.hashes = c.hashes[:0] // no words set apart, such as Chinese and Thai
	for _, r := range text {
		if !unicode.IsSpace(r) {
			c.hashes = append(c.hashes, mix(uint64(r)))
		}
	}
	return runes
}

// Find joins near-duplicate pages into clusters; nothing may be added afterwards.
func (c *Clusters) Find() error {
	const page = 4
	var last []byte
	for line, err := range c.keys.Sorted() {
		if err != nil {
			return err
		}
		if len(last) > 0 && bytes.Equal(last[:len(last)-page], line[:len(line)-page]) {
			c.join(number(last), number(line))
		}
		last = append(last[:0], line...)
	}
	c.size = make([]uint32, len(c.parent))
	for i := range c.parent {
		c.size[c.root(uint32(i))]++
	}
	return nil
}

func number(line []byte) uint32 { return binary.BigEndian.Uint32(line[len(line)-4:]) }

func (c *Clusters) join(a, b uint32) {
	a, b = c.root(a), c.root(b)
	c.parent[max(a, b)] = min(a, b)
}

func (c *Clusters) root(i uint32) uint32 {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

// Of returns the first page of a page's cluster, and the size of the cluster.
func (c *Clusters) Of(page int) (first, size int) {
	root := c.root(uint32(page))
	return int(root), int(c.size[root])
}

// Close removes the temporary files.
func (c *Clusters) Close() error { return c.keys.Close() }
