package htmlmeta

// name is the number of a known tag or attribute name; 0 is any other.
type name uint8

// names knows a fixed vocabulary, in lower case. list[0] is "". Names that begin and are
// as long alike stand together: a name costs a comparison or two.
type names struct {
	list  []string
	alike [256][]name
}

// newNames numbers a list, in which a name may stand more than once.
func newNames(list []string) *names {
	n := &names{list: []string{""}}
	for _, s := range list {
		if find(n, s) == 0 {
			n.alike[alike(s)] = append(n.alike[alike(s)], name(len(n.list)))
			n.list = append(n.list, s)
		}
	}
	return n
}

func alike[T string | []byte](b T) uint8 { return b[0]<<3 | uint8(len(b)&7) }

// find gives the number of b, written in any case.
func find[T string | []byte](n *names, b T) name {
	if len(b) == 0 {
		return 0
	}
	for _, id := range n.alike[alike(b)] {
		if s := n.list[id]; len(s) == len(b) && equalFold(b, s) {
			return id
		}
	}
	return 0
}

// of gives the number of a name in lower case.
func (n *names) of(s string) name { return find(n, s) }

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
