package mirror

import (
	"hash/maphash"
	"strings"
	"unique"
)

// nameSet is a set of names, stored as keyed 64-bit hashes, since names are longer. A collision
// (probability 10^-7 for a million names) only makes a name longer than needed.
type nameSet struct {
	seed   maphash.Seed
	hashes map[uint64]struct{}
}

func newNameSet() nameSet { return nameSet{maphash.MakeSeed(), map[uint64]struct{}{}} }

func (s nameSet) hash(name string) uint64 { return maphash.String(s.seed, name) }

func (s nameSet) has(name string) bool {
	_, ok := s.hashes[s.hash(name)]
	return ok
}

// add adds a name, and reports whether it is new.
func (s nameSet) add(name string) bool {
	had := len(s.hashes)
	s.hashes[s.hash(name)] = struct{}{}
	return len(s.hashes) > had
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
