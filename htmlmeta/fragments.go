package htmlmeta

import (
	"cmp"
	"slices"
	"strings"
)

// Fragment is a fragment that a link names; "" if the link also occurs without one.
type Fragment struct {
	Link int // index in Document.Links
	Text string
}

// fragments are the ids, and the references with a fragment, found by a scan.
type fragments struct {
	ids   []idSpan
	named []fragmentSpan
}

// idSpan is an id attribute, or the name of an anchor.
type idSpan struct {
	value  span
	isName bool
}

// fragmentSpan is a reference with a fragment: its value, and its index in elements.refs.
type fragmentSpan struct {
	ref   int
	value span
}

func (f *fragments) reset() { f.ids, f.named = trimmed(f.ids), trimmed(f.named) }

// addFragments decodes what the scan has found. It needs the complete list of links.
func (r *reader) addFragments(src []byte) {
	f, t := &r.found.fragments, &r.tree
	t.text, t.ends = t.text[:0], t.ends[:0]
	for _, id := range f.ids {
		t.text = r.decode(t.text, id.value.of(src), true)
		t.ends = append(t.ends, len(t.text))
	}
	for _, n := range f.named {
		t.text = r.decode(t.text, n.value.of(src), true)
		t.ends = append(t.ends, len(t.text))
	}
	c := cutter{text: string(t.text), ends: t.ends}
	r.doc.IDs, r.doc.Fragments = make([]string, 0, len(f.ids)), make([]Fragment, 0, len(f.named))
	for range f.ids {
		if id := c.next(); id != "" {
			r.doc.IDs = append(r.doc.IDs, id)
		}
	}
	r.doc.IDs = slices.Compact(r.doc.IDs)
	ref, link := -1, -1
	for _, n := range f.named {
		value, text, found := strings.Cut(strings.Trim(c.next(), asciiBlank), "#")
		if !found {
			continue // the '#' was part of a character reference
		}
		if n.ref != ref {
			ref, link = n.ref, r.links.find(value)
			if link >= 0 && r.found.refs[ref].plain {
				r.links.plain = append(r.links.plain, link)
			}
		}
		if link >= 0 {
			r.doc.Fragments = append(r.doc.Fragments, Fragment{link, text})
		}
	}
	slices.SortFunc(r.doc.Fragments, compareFragments)
	named := slices.Compact(r.doc.Fragments)
	r.doc.Fragments = named
	for _, link := range r.links.plain {
		at, _ := slices.BinarySearchFunc(named, Fragment{Link: link}, compareFragments)
		if at < len(named) && named[at].Link == link {
			r.doc.Fragments = append(r.doc.Fragments, Fragment{Link: link})
		}
	}
	slices.SortFunc(r.doc.Fragments, compareFragments)
	r.doc.Fragments = slices.Compact(r.doc.Fragments)
}

func compareFragments(a, b Fragment) int {
	return cmp.Or(a.Link-b.Link, strings.Compare(a.Text, b.Text))
}

// find returns the index of the link for a reference to a page; -1 if there is none.
func (s *linkSet) find(ref string) int {
	if foreignScheme(ref) {
		return -1
	}
	u, err := s.resolve(ref)
	if err != nil {
		return -1
	}
	at, known := s.at(u, Navigation)
	if !known {
		return -1
	}
	return at
}
