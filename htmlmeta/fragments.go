package htmlmeta

import "strings"

// Fragment is one that a link of a document names: "" where it is named without one, too.
type Fragment struct {
	Link int // in Document.Links
	Text string
}

// fragments are where a scan has found ids, and references with a fragment.
type fragments struct {
	ids   []span
	named []fragmentSpan
}

// fragmentSpan is a reference with a fragment: the value, and which of elements.refs it is.
type fragmentSpan struct {
	ref   int
	value span
}

func (f *fragments) reset() { f.ids, f.named = trimmed(f.ids), trimmed(f.named) }

// addFragments decodes what the scan has found. All links are there.
func (r *reader) addFragments(src []byte) {
	f, buf, last := &r.found.fragments, []byte(nil), ""
	for _, id := range f.ids {
		buf = r.decode(buf[:0], id.of(src), true)
		if string(buf) != last && len(buf) > 0 {
			last = string(buf)
			r.doc.IDs = append(r.doc.IDs, last)
		}
	}
	ref, link, before := -1, -1, Fragment{Link: -1}
	for _, n := range f.named {
		buf = r.decode(buf[:0], n.value.of(src), true)
		value, text, found := strings.Cut(strings.Trim(string(buf), asciiBlank), "#")
		if !found {
			continue // the '#' was of a character reference
		}
		if n.ref != ref {
			ref, link = n.ref, r.links.find(value)
		}
		if link < 0 {
			continue
		}
		if r.found.refs[ref].plain && before.Link != link {
			r.doc.Fragments = append(r.doc.Fragments, Fragment{Link: link})
		}
		if next := (Fragment{link, text}); next != before {
			r.doc.Fragments = append(r.doc.Fragments, next)
			before = next
		}
	}
}

// find is the link that a reference to a page has become; -1 for none.
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
