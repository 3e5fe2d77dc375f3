package htmlmeta

// name is the number of a known tag or attribute name; 0 means any other.
type name uint8

// names is a fixed vocabulary in lower case; list[0] is "". Names with the same first letter
// and length share a bucket, so that a lookup takes one or two comparisons.
type names struct {
	list  []string
	alike [256][]name
}

// newNames numbers a list, which may contain duplicates.
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

// find returns the number of b, ignoring case.
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

// of returns the number of a lower-case name.
func (n *names) of(s string) name { return find(n, s) }

// equalFold reports whether b equals s, ignoring ASCII case. s is in lower case and as long as
// b.
func equalFold[T string | []byte](b T, s string) bool {
	for i := 0; i < len(s); i++ {
		c := b[i]
		if c != s[i] && (c < 'A' || 'Z' < c || c|0x20 != s[i]) {
			return false
		}
	}
	return true
}
