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
		if equalFold(b, n.list[id]) {
			return id
		}
	}
	return 0
}

// of returns the number of a lower-case name.
func (n *names) of(s string) name { return find(n, s) }

// equalFold reports whether b equals s, which is in lower case, ignoring ASCII case.
func equalFold[T string | []byte](b T, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := b[i]
		if c != s[i] && (c < 'A' || 'Z' < c || c|0x20 != s[i]) {
			return false
		}
	}
	return true
}

// hasPrefixFold reports whether b begins with prefix, which is in lower case.
func hasPrefixFold[T string | []byte](b T, prefix string) bool {
	return len(b) >= len(prefix) && equalFold(b[:len(prefix)], prefix)
}

// indexFold returns where b contains sub, which is in lower case; -1 if it does not.
func indexFold[T string | []byte](b T, sub string) int {
	for i := 0; i+len(sub) <= len(b); i++ {
		if hasPrefixFold(b[i:], sub) {
			return i
		}
	}
	return -1
}
