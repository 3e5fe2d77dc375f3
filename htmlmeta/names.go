package htmlmeta

// name is the number of a known tag or attribute name; 0 is any other.
type name uint8

// names knows a fixed vocabulary and finds a name in it by its length and
// three of its letters: a perfect hash, so that no name costs more than one
// comparison.
type names struct {
	list  []string // list[0] is ""
	mul   [4]uint32
	slots [1024]name
}

// newNames searches multipliers under which no two names meet.
func newNames(list []string) *names {
	n := &names{list: append([]string{""}, list...)}
	for seed := uint32(1); seed < 1<<20; seed++ {
		x := seed * 0x9E3779B1
		for i := range n.mul {
			x ^= x << 13
			x ^= x >> 17
			x ^= x << 5
			n.mul[i] = x | 1
		}
		if n.fill() {
			return n
		}
	}
	panic("htmlmeta: no perfect hash for the names")
}

func (n *names) fill() bool {
	n.slots = [1024]name{}
	for i, s := range n.list[1:] {
		h := hash(n, s)
		if n.slots[h] != 0 {
			return false
		}
		n.slots[h] = name(i + 1)
	}
	return true
}

func hash[T string | []byte](n *names, b T) uint32 {
	h := uint32(len(b))*n.mul[0] + uint32(b[0]|0x20)*n.mul[1] +
		uint32(b[len(b)/2]|0x20)*n.mul[2] + uint32(b[len(b)-1]|0x20)*n.mul[3]
	return h >> 22
}

// find gives the number of b, written in any case.
func find[T string | []byte](n *names, b T) name {
	if len(b) == 0 {
		return 0
	}
	id := n.slots[hash(n, b)]
	if s := n.list[id]; id == 0 || len(s) != len(b) || !equalFold(b, s) {
		return 0
	}
	return id
}

// of gives the number of a name in lower case that is known to be in the list.
func (n *names) of(s string) name {
	return find(n, s)
}

// equalFold compares b, in any ASCII case, with s in lower case; both are of
// the same length.
func equalFold[T string | []byte](b T, s string) bool {
	for i := 0; i < len(s); i++ {
		c := b[i]
		if c != s[i] && (c < 'A' || 'Z' < c || c|0x20 != s[i]) {
			return false
		}
	}
	return true
}
