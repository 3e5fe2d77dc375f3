package htmlmeta

import (
	"bytes"
	"hash/maphash"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// maxElements is the most elements of a document that become nodes.
const maxElements = 2 * MaxLinks

// element is a start tag that becomes a node of the small tree.
type element struct {
	tag   name
	name  span // in the source
	attrs span // indexes into elements.attrs
	text  span // content of title, style and script, in the source
}

// elements are the relevant tags of a document, in order.
type elements struct {
	list  []element
	attrs []attr
	known indexSet // references that were seen before
	refs  []reference
	fragments
	notes notes
	seed  maphash.Seed

	texts                  int // number of elements with text
	templates              int // number of open template elements
	hasBase, hasTitle, cut bool
}

// reference is an attribute value that was seen before.
type reference struct {
	place    uint8
	nofollow bool
	plain    bool // seen without a fragment
	value    span
}

func (e *elements) reset() {
	e.list, e.attrs, e.refs = trimmed(e.list), trimmed(e.attrs), trimmed(e.refs)
	e.known.clear()
	e.fragments.reset()
	e.notes.reset()
	e.texts, e.templates, e.hasBase, e.hasTitle, e.cut = 0, 0, false, false, false
}

// keptLength is the largest capacity of a buffer that is kept for reuse.
const keptLength = 1 << 14

// trimmed empties a buffer for reuse.
func trimmed[T any](b []T) []T {
	if cap(b) > keptLength {
		return nil
	}
	return b[:0]
}

// collect finds the elements of a document.
func (e *elements) collect(s *scanner) {
	for s.next() {
		t := &s.tag
		switch {
		case t.id == tagTemplate && t.end:
			e.templates = max(0, e.templates-1)
			continue
		case t.end:
			continue
		case len(e.list) >= maxElements:
			e.cut = true
			return
		}
		if e.templates == 0 && s.foreign.depth == 0 {
			e.notes.look(s)
		}
		if e.wanted(s) {
			e.add(t)
		}
		if t.id == tagTemplate && !s.xml {
			e.templates++
		}
	}
}

// wanted reports whether a tag adds anything new. The content of templates is not part of the
// page: their links are read, their metas, base and title are not.
func (e *elements) wanted(s *scanner) bool {
	t := &s.tag
	switch t.id {
	case tagMeta:
		return e.templates == 0 && len(t.attrs) > 0
	case tagBase:
		ok := t.has(attrHref) && !e.hasBase && e.templates == 0
		e.hasBase = e.hasBase || ok
		return ok
	case tagTitle:
		if t.text.empty() || e.hasTitle || e.templates > 0 {
			return len(t.attrs) > 0
		}
		e.hasTitle = true
		return true
	case tagStyle:
		return mayHoldURL(t.text.of(s.src)) || len(t.attrs) > 0
	case tagScript:
		return !t.text.empty() || e.anyNew(s.src, t)
	case tagHTML, tagLink:
		return true
	}
	return e.anyNew(s.src, t)
}

// anyNew reports whether a tag has a reference that was not seen before.
func (e *elements) anyNew(src []byte, t *tag) bool {
	any, row := false, &placeOf[t.id]
	nofollow := mayForbid(t.first(attrRel).of(src))
	for i := range t.attrs {
		p := row[t.attrs[i].id]
		if p == 0 {
			continue
		}
		switch places[p-1].form {
		case aside:
		case oneURL:
			any = e.isNew(src, p, nofollow, t.attrs[i].value) || any
		default:
			any = true
		}
	}
	return any
}

// mayForbid reports whether a rel may contain nofollow, judging by the source.
func mayForbid(rel []byte) bool {
	return len(rel) > 0 && (bytes.IndexByte(rel, '&') >= 0 ||
		indexFold(rel, "nofollow") >= 0 || indexFold(rel, "ugc") >= 0 || indexFold(rel, "sponsored") >= 0)
}

// isNew reports whether a reference, ignoring its fragment, was not seen before.
func (e *elements) isNew(src []byte, place uint8, nofollow bool, whole span) bool {
	before := withoutFragment(src, whole)
	value := before.of(src)
	hash := maphash.Bytes(e.seed, value) + uint64(place)
	at, known := e.known.find(hash, func(i int) bool {
		o := &e.refs[i]
		return o.place == place && o.nofollow == nofollow && bytes.Equal(o.value.of(src), value)
	})
	if !known {
		at = len(e.refs)
		e.known.insert(hash, at)
		e.refs = append(e.refs, reference{place: place, nofollow: nofollow, value: before})
	}
	switch {
	case places[place-1].kind != Navigation:
	case before != whole, bytes.IndexByte(value, '#') >= 0:
		e.named = append(e.named, fragmentSpan{at, whole})
	default:
		e.refs[at].plain = true
	}
	return !known
}

// withoutFragment cuts off the fragment of a reference, unless the '#' may be part of a
// character reference.
func withoutFragment(src []byte, v span) span {
	b := v.of(src)
	if i := bytes.IndexByte(b, '#'); i >= 0 && bytes.IndexByte(b[:i], '&') < 0 {
		v.to = v.from + i
	}
	return v
}

// add stores a tag's offsets. Only styles, scripts and titles keep their text.
func (e *elements) add(t *tag) {
	from := len(e.attrs)
	e.attrs = append(e.attrs, t.attrs...)
	el := element{tag: t.id, name: t.name, attrs: span{from, len(e.attrs)}}
	if t.id == tagStyle || t.id == tagTitle || t.id == tagScript {
		el.text = t.text
	}
	if !el.text.empty() {
		e.texts++
	}
	e.list = append(e.list, el)
}

// tree is the small document in which goquery selects: the relevant elements, in order, all
// siblings.
type tree struct {
	root  html.Node
	nodes []html.Node
	attrs []html.Attribute
	all   []*html.Node
	text  []byte // decoded names, values and texts, concatenated
	ends  []int
}

// build makes the nodes of the elements, and a selection of all of them.
func (t *tree) build(e *elements, src []byte, decode decoder) *goquery.Selection {
	t.decode(e, src, decode)
	t.nodes, t.attrs = sized(t.nodes, len(e.list)+e.texts), sized(t.attrs, len(e.attrs))
	t.all = sized(t.all, len(e.list))
	c := cutter{text: string(t.text), ends: t.ends}
	t.root = html.Node{Type: html.DocumentNode}
	free := t.nodes
	for i := range e.list {
		el, n := &e.list[i], &free[0]
		t.all[i], free = n, free[1:]
		n.Type, n.Data = html.ElementNode, tagNames.list[el.tag]
		if el.tag == 0 {
			n.Data = c.next()
		}
		n.Attr = t.attrs[el.attrs.from:el.attrs.to:el.attrs.to]
		for j := range n.Attr {
			n.Attr[j] = html.Attribute{Key: attrNames.list[e.attrs[el.attrs.from+j].id], Val: c.next()}
		}
		appendChild(&t.root, n)
		if !el.text.empty() {
			text := &free[0]
			free = free[1:]
			text.Type, text.Data = html.TextNode, c.next()
			appendChild(n, text)
		}
	}
	return &goquery.Selection{Nodes: t.all}
}

// decoder appends the decoded text of a part of the source.
type decoder func(dst, raw []byte, entities bool) []byte

// cutter splits a string into the pieces that it was concatenated from.
type cutter struct {
	text string
	from int
	ends []int
}

func (c *cutter) next() string {
	s := c.text[c.from:c.ends[0]]
	c.from, c.ends = c.ends[0], c.ends[1:]
	return s
}

// decode decodes all texts into one buffer, in the order in which build cuts them out.
func (t *tree) decode(e *elements, src []byte, decode decoder) {
	t.text, t.ends = trimmed(t.text), trimmed(t.ends)
	for i := range e.list {
		el := &e.list[i]
		if el.tag == 0 {
			t.text = append(t.text, bytes.ToLower(el.name.of(src))...)
			t.ends = append(t.ends, len(t.text))
		}
		for _, a := range e.attrs[el.attrs.from:el.attrs.to] {
			t.text = decode(t.text, useful(a, el.tag, src), true)
			t.ends = append(t.ends, len(t.text))
		}
		if !el.text.empty() {
			t.text = decode(t.text, el.text.of(src), false)
			t.ends = append(t.ends, len(t.text))
		}
	}
}

// useful truncates a value that cannot be used as a whole: a URL that is too long remains too
// long, a data: URL remains one.
func useful(a attr, tag name, src []byte) []byte {
	v := a.value.of(src)
	p := placeOf[tag][a.id]
	if p == 0 || places[p-1].form != oneURL && places[p-1].form != linkHref {
		return v
	}
	if hasPrefixFold(v, "data:") {
		return v[:len("data:")]
	}
	return v[:min(len(v), maxValue)]
}

// appendChild is html.Node.AppendChild without its checks.
func appendChild(parent, n *html.Node) {
	n.Parent, n.PrevSibling = parent, parent.LastChild
	if parent.LastChild == nil {
		parent.FirstChild = n
	} else {
		parent.LastChild.NextSibling = n
	}
	parent.LastChild = n
}

// sized returns a slice of n zero elements.
func sized[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n, n+n/2)
	}
	return b[:n]
}

// release clears the nodes, so that they can be reused.
func (t *tree) release() {
	clear(t.nodes)
	clear(t.attrs)
	clear(t.all)
	t.nodes, t.attrs, t.all = trimmed(t.nodes), trimmed(t.attrs), trimmed(t.all)
	t.root = html.Node{}
}
