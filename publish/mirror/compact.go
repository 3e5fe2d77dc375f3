package mirror

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"unique"
)

// nameSet is a set of names by 64 bits of a hash under a seed of its own: sixteen
// octets or less a name, however long that is. Two names that are taken for one,
// one chance in 10^7 among a million, cost a name that is longer than it had to be.
type nameSet struct {
	seed   maphash.Seed
	hashes []uint64 // 0: nobody's; at least a quarter of them are
	n      int
}

func newNameSet() *nameSet { return &nameSet{seed: maphash.MakeSeed(), hashes: make([]uint64, 64)} }

func (s *nameSet) hash(name string) uint64 { return max(1, maphash.String(s.seed, name)) }

// slot is where a hash is, or would be.
func (s *nameSet) slot(h uint64) int {
	for i := h; ; i++ {
		at := int(i & uint64(len(s.hashes)-1))
		if s.hashes[at] == h || s.hashes[at] == 0 {
			return at
		}
	}
}

func (s *nameSet) has(name string) bool { return s.hashes[s.slot(s.hash(name))] != 0 }

// add takes in a name, and says whether it is new.
func (s *nameSet) add(name string) bool {
	h := s.hash(name)
	at := s.slot(h)
	if s.hashes[at] == h {
		return false
	}
	s.hashes[at] = h
	if s.n++; 4*s.n > 3*len(s.hashes) {
		had := s.hashes
		s.hashes = make([]uint64, 2*len(had))
		for _, h := range had {
			if h != 0 {
				s.hashes[s.slot(h)] = h
			}
		}
	}
	return true
}

// askers are who asked first for a name, by 64 bits of its hash: a number from 0.
type askers struct {
	marks []uint32 // half of the hash; the other half says where
	who   []int32  // from 1; 0 is nobody
}

// newAskers is for at most n names.
func newAskers(n int) askers {
	size := 1 << bits.Len(uint(n+n/3))
	return askers{make([]uint32, size), make([]int32, size)}
}

// first is who asked first for a name; -1 if i is the first.
func (a *askers) first(hash uint64, i int32) int32 {
	for at := hash; ; at++ {
		slot := at & uint64(len(a.who)-1)
		switch mark := uint32(hash >> 32); {
		case a.who[slot] == 0:
			a.marks[slot], a.who[slot] = mark, i+1
			return -1
		case a.marks[slot] == mark:
			return a.who[slot] - 1
		}
	}
}

// texts keeps strings one behind another: each by itself would take more memory,
// and would hold what it was cut from.
type texts struct{ room *strings.Builder }

// textRoom is what is asked for at once, in octets.
const textRoom = 64 << 10

func (t *texts) keep(s string) string {
	if t.room == nil || t.room.Cap()-t.room.Len() < len(s) {
		t.room = new(strings.Builder)
		t.room.Grow(max(textRoom, len(s)))
	}
	from := t.room.Len()
	t.room.WriteString(s)
	return t.room.String()[from:]
}

// word is a text that many share, and is there once. The zero word is "".
type word unique.Handle[string]

func wordOf(s string) word { return word(unique.Make(s)) }

func (w word) text() string {
	if w == (word{}) {
		return ""
	}
	return unique.Handle[string](w).Value()
}
