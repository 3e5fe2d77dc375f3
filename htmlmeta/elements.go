package htmlmeta

import (
	"iter"
	"strings"
)

// maxElements bounds how many elements of a document are read.
const maxElements = 2 * MaxLinks

// element is a start tag that matters.
type element struct {
	tag   name
	name  span // in the source
	attrs span // indexes into elements.attrs
	text  span // title, style: the content, in the source
}

// elementAttr is an attribute of an element; value is in the source.
type elementAttr struct {
	id    name
	value span
}

// elements are the tags of one document that matter, in their order.
type elements struct {
	list  []element
	attrs []elementAttr

	templates              int // open template elements
	hasBase, hasTitle, cut bool
}

func (e *elements) reset() { *e = elements{list: trimmed(e.list), attrs: trimmed(e.attrs)} }

// keptLength is how much of a buffer that a huge page has grown is kept.
const keptLength = 1 << 14

// trimmed empties a buffer for its next use.
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
		if e.wanted(s) {
			e.add(t)
		}
		if t.id == tagTemplate && !s.xml {
			e.templates++
		}
	}
}

// wanted says whether a tag adds anything to those that are there. What a
// template holds is not part of the page yet: its links are read, its metas,
// base and title are not.
func (e *elements) wanted(s *scanner) bool {
	t := &s.tag
	switch t.id {
	case tagMeta:
		return e.templates == 0 && len(t.attrs) > 0
	case tagBase:
		_, ok := t.get(attrHref)
		ok = ok && !e.hasBase && e.templates == 0
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
		return !t.text.empty() || holdsLink(t)
	case tagHTML, tagLink:
		return true
	}
	return holdsLink(t)
}

// holdsLink says whether an attribute of a tag may hold a link, by the table.
func holdsLink(t *tag) bool {
	for i := range t.attrs {
		if p := placeOf[t.id][t.attrs[i].id]; p != 0 && places[p-1].form != aside {
			return true
		}
	}
	return false
}

// add copies a tag's offsets. Only styles, scripts and titles keep their text.
func (e *elements) add(t *tag) {
	from := len(e.attrs)
	for i := range t.attrs {
		e.attrs = append(e.attrs, elementAttr{t.attrs[i].id, t.attrs[i].value})
	}
	el := element{tag: t.id, name: t.name, attrs: span{from, len(e.attrs)}}
	if t.id == tagStyle || t.id == tagTitle || t.id == tagScript {
		el.text = t.text
	}
	e.list = append(e.list, el)
}

// node is an element of a source, to be read.
type node struct {
	*element
	r   *reader
	src []byte
}

// nodes are the elements that were found in src.
func (r *reader) nodes(src []byte) iter.Seq[node] {
	return func(yield func(node) bool) {
		for i := range r.found.list {
			if !yield(node{&r.found.list[i], r, src}) {
				return
			}
		}
	}
}

// name is the tag's, in lower case.
func (n node) name() string {
	if n.tag == 0 {
		return strings.ToLower(string(n.element.name.of(n.src)))
	}
	return tagNames.list[n.tag]
}

// content is the decoded text of a title, a style or a script.
func (n node) content() []byte { return n.r.decode(nil, n.text.of(n.src), false) }

func (n node) value(a elementAttr) string {
	n.r.text = n.r.decode(trimmed(n.r.text), useful(a, n.tag, n.src), true)
	return string(n.r.text)
}

// attr is the value of an attribute; ok says whether it is there.
func (n node) attr(id name) (value string, ok bool) {
	for _, a := range n.r.found.attrs[n.attrs.from:n.attrs.to] {
		if a.id == id {
			return n.value(a), true
		}
	}
	return "", false
}

// get is the value of an attribute; "" where it is not there.
func (n node) get(key string) string {
	value, _ := n.attr(attrNames.of(key))
	return value
}

// useful is a value, cut short where nothing could be made of all of it: a
// URL that is too long stays too long, a data: URL stays one.
func useful(a elementAttr, tag name, src []byte) []byte {
	v := a.value.of(src)
	p := placeOf[tag][a.id]
	if p == 0 || places[p-1].form != oneURL && places[p-1].form != linkHref {
		return v
	}
	if len(v) > 5 && v[4] == ':' && equalFold(v[:5], "data:") {
		return v[:5]
	}
	return v[:min(len(v), maxValue)]
}
