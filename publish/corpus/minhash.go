package corpus

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"curtsy/internal/extsort"
)

// MinHash (Broder 1997) with bands: pages whose sets of shingles agree in a share s
// have a band in common with a probability of 1-(1-s^bandRows)^bands: 0.99 at 0.9,
// 0.68 at 0.8, 0.01 at 0.5.
const (
	bands    = 10
	bandRows = 10
	words    = 5  // of a shingle
	runes    = 12 // of a shingle where words are not set apart
	// A text of fewer shingles says too little to be compared.
	fewestShingles = 8
)

// Clusters finds pages that are nearly the same. Pages have numbers from 0 on.
type Clusters struct {
	factors, terms [bands * bandRows]uint64
	keys           *extsort.Sorter
	parent         []uint32
	size           []uint32
}

// NewClusters keeps what does not fit memory in files in dir. Close removes them.
func NewClusters(dir string) *Clusters {
	c := &Clusters{keys: extsort.New(dir)}
	r := rand.New(rand.NewPCG(1, 2)) // the same clusters each time
	for i := range c.factors {
		c.factors[i], c.terms[i] = r.Uint64()|1, r.Uint64()
	}
	return c
}

// Add takes in the text of the next page.
func (c *Clusters) Add(text string) error {
	page := uint32(len(c.parent))
	c.parent = append(c.parent, page)
	var least [bands * bandRows]uint64
	for i := range least {
		least[i] = ^uint64(0)
	}
	n := 0
	shingles(text, func(h uint64) {
		n++
		for i := range least {
			least[i] = min(least[i], mix(h*c.factors[i]+c.terms[i]))
		}
	})
	if n < fewestShingles {
		return nil
	}
	for band := range bands {
		h := fnv.New64a()
		var b [8]byte
		for _, v := range least[band*bandRows : (band+1)*bandRows] {
			binary.BigEndian.PutUint64(b[:], v)
			h.Write(b[:])
		}
		key := binary.BigEndian.AppendUint64([]byte{byte(band)}, h.Sum64())
		if err := c.keys.Add(binary.BigEndian.AppendUint32(key, page)); err != nil {
			return err
		}
	}
	return nil
}

// mix spreads the bits of a hash (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// shingles calls each with a hash of every run of words.
func shingles(text string, each func(uint64)) {
	list := strings.Fields(text)
	if len(text) > 64 && utf8.RuneCountInString(text) > 25*len(list) { // Chinese, Thai
		list = strings.Split(strings.Join(list, ""), "")
		runs(list, runes, each)
		return
	}
	runs(list, words, each)
}

func runs(list []string, n int, each func(uint64)) {
	for i := 0; i+n <= len(list); i++ {
		h := uint64(14695981039346656037) // FNV-1a
		for _, word := range list[i : i+n] {
			for j := range len(word) {
				h = (h ^ uint64(word[j])) * 1099511628211
			}
			h = (h ^ ' ') * 1099511628211
		}
		each(h)
	}
}

// Find joins the pages that are nearly the same; nothing may be added afterwards.
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

// Of is the first page of the cluster of a page, and how many there are in it.
func (c *Clusters) Of(page int) (first, size int) {
	root := c.root(uint32(page))
	return int(root), int(c.size[root])
}

// Close removes the temporary files.
func (c *Clusters) Close() error { return c.keys.Close() }
