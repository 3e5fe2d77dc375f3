package mirror

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"unique"
)

// nameSet is a set of names, stored as keyed 64-bit hashes in at most sixteen octets a name. A
// collision (probability 10^-7 for a million names) only makes a name longer than needed.
type nameSet struct {
	seed   maphash.Seed
	hashes []uint64 // 0: free; at least a quarter of the slots are
	n      int
}

func newNameSet() *nameSet { return &nameSet{seed: maphash.MakeSeed(), hashes: make([]uint64, 64)} }

func (s *nameSet) hash(name string) uint64 { return max(1, maphash.String(s.seed, name)) }

// slot returns the slot of a hash, or the free slot where it belongs.
func (s *nameSet) slot(h uint64) int {
	for i := h; ; i++ {
		at := int(i & uint64(len(s.hashes)-1))
		if s.hashes[at] == h || s.hashes[at] == 0 {
			return at
		}
	}
}

func (s *nameSet) has(name string) bool { return s.hashes[s.slot(s.hash(name))] != 0 }

// add adds a name, and reports whether it is new.
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

// askers maps a name, by a 64-bit hash, to the first entry that asked for it.
type askers struct {
	marks []uint32 // the upper half of the hash; the lower half selects the slot
	who   []int32  // entry number + 1; 0: free
}

// newAskers returns a table for at most n names.
func newAskers(n int) askers {
	size := 1 << bits.Len(uint(n+n/3))
	return askers{make([]uint32, size), make([]int32, size)}
}

// first returns the entry that asked first for a name; -1 if that is i, which is then stored.
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

// texts stores strings in shared blocks. Separate strings would take more memory, and
// substrings would keep alive what they were cut from.
type texts struct{ room *strings.Builder }

// textRoom is the size of a block in octets.
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

// word is an interned string. The zero word is "".
type word unique.Handle[string]

func wordOf(s string) word { return word(unique.Make(s)) }

func (w word) text() string {
	if w == (word{}) {
		return ""
	}
	return unique.Handle[string](w).Value()
}
