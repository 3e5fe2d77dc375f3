package htmlmeta

import "bytes"

// span is a part of the source: src[from:to].
type span struct{ from, to int }

func (s span) of(src []byte) []byte { return src[s.from:s.to] }
func (s span) empty() bool          { return s.from == s.to }

// attr is an attribute of a tag in the source. Its value excludes the quotes; entities are not
// decoded.
type attr struct {
	id    name // 0 if the table does not have it
	name  span
	value span
	quote byte // '"', '\'' or 0
}

// tag is a start or end tag in the source.
type tag struct {
	id      name
	name    span
	all     span // from '<' to after '>'
	end     bool // </name>
	selfEnd bool // <name/>
	attrs   []attr
	// text is the content of a raw text element: script, style, title, …
	text span
}

// get returns the value of an attribute, and whether it exists.
func (t *tag) get(id name) (span, bool) {
	for i := range t.attrs {
		if t.attrs[i].id == id {
			return t.attrs[i].value, true
		}
	}
	return span{}, false
}

// scanner finds tags like the tokenizer of HTML §13.2.5, with scripting off. It builds no tree
// and copies nothing: tags are offsets into src, so that a rewriter can replace just the bytes
// of a value.
type scanner struct {
	src []byte
	pos int
	tag tag // the current tag, valid until the next call of next

	// every makes the scanner return every tag with all attributes. Otherwise it returns only
	// relevant start tags, with the attributes of the table, and end tags of templates.
	every bool
	// xml: no element is raw text, CDATA sections are allowed everywhere, and prefixes of tag
	// names are ignored.
	xml bool

	// places, if not nil, collects the offsets of the tags that a rewriter needs.
	places *tagPlaces
	// ids, if not nil, collects ids and anchor names.
	ids *[]idSpan
	// known, if not nil, are such offsets; the scanner then visits no other tags.
	known []uint32

	foreign foreign
	style   int              // end of the last style element in foreign content
	row     *[maxAttrs]uint8 // row of the table for the current tag
	seen    uint64           // bit set of the current tag's attributes; duplicates are ignored
}

// next finds the next tag; false at the end of the document.
func (s *scanner) next() bool {
	src := s.src
	if s.known != nil {
		return s.nextKnown()
	}
	for s.pos < len(src) {
		i := bytes.IndexByte(src[s.pos:], '<')
		if i < 0 || s.pos+i+1 >= len(src) {
			break
		}
		s.pos += i
		switch c := src[s.pos+1]; {
		case isLetter(c):
			if s.startTag() {
				return true
			}
		case c == '/':
			if s.endTag() {
				return true
			}
		case c == '!', c == '?':
			s.skipMarkup()
		default:
			s.pos++
		}
	}
	s.pos = len(src)
	return false
}

// Classes of octets in a tag.
const (
	blank  = 1 << iota // HTML §13.2.5.32: tab, LF, FF, space; CR is normalized to LF
	slash              // '/'
	gt                 // '>'
	equals             // '='
)

var class = [256]uint8{'\t': blank, '\n': blank, '\f': blank, '\r': blank, ' ': blank, '/': slash, '>': gt, '=': equals}

// startTag reads the start tag at pos, and its raw text. It returns false if the tag is
// irrelevant, or cut off by the end of the document.
func (s *scanner) startTag() bool {
	src, t := s.src, &s.tag
	start, p := s.pos, s.pos+2
	for p < len(src) && class[src[p]]&(blank|slash|gt) == 0 {
		p++
	}
	if p == len(src) {
		s.pos = p
		return false
	}
	t.name, t.end, t.selfEnd, t.text = span{start + 1, p}, false, false, span{}
	t.id = s.findTag(src[start+1 : p])
	inForeign := s.foreign.depth > 0
	t.attrs = t.attrs[:0]
	if src[p] == '>' {
		p++
	} else if p = s.attributes(p); p < 0 {
		s.pos = len(src)
		return false
	}
	s.pos, t.all = p, span{start, p}
	matters := len(t.attrs) > 0
	if t.id != 0 || s.every || inForeign {
		matters = s.opened()
	}
	if s.places != nil {
		s.places.start(src, t, matters || inForeign || s.foreign.depth > 0)
	}
	return matters || t.id >= tagH1 && t.id <= tagH6
}

func (s *scanner) findTag(b []byte) name {
	if s.xml {
		if i := bytes.IndexByte(b, ':'); i >= 0 {
			b = b[i+1:]
		}
	}
	return find(tagNames, b)
}

// opened handles raw text and foreign content after a start tag. It reports whether the tag is
// relevant.
func (s *scanner) opened() bool {
	t := &s.tag
	if !s.xml {
		inForeign := s.foreign.open(s)
		switch {
		case inForeign && t.id == tagStyle && !t.selfEnd:
			t.text = span{s.pos, s.styleEnd()}
		case inForeign:
		case rawText[t.id]:
			s.rawText()
		}
	} else if t.id == tagStyle && !t.selfEnd {
		t.text = span{s.pos, s.styleEnd()}
	} else if t.id == tagTitle && !t.selfEnd {
		t.text = span{s.pos, rawEnd(s.src, s.pos, tagNames.list[t.id])}
	}
	return s.every || len(t.attrs) > 0 || t.id == tagTitle || t.id == tagStyle || t.id == tagTemplate ||
		t.id == tagScript && !t.text.empty()
}

// styleEnd returns the end of the style element that begins at pos. In foreign content the
// scanner continues within the element; a style nested in another has no text, since otherwise
// nested ones would take quadratic time.
func (s *scanner) styleEnd() int {
	if s.pos < s.style {
		return s.pos
	}
	s.style = rawEnd(s.src, s.pos, "style")
	return s.style
}

// rawText skips the content of a raw text element.
func (s *scanner) rawText() {
	t := &s.tag
	var end int
	switch t.id {
	case tagPlaintext:
		end = len(s.src)
	case tagScript:
		end = scriptEnd(s.src, s.pos)
	default:
		end = rawEnd(s.src, s.pos, tagNames.list[t.id])
	}
	t.text = span{s.pos, end}
	s.pos = end
}

// endTag reads what begins with "</".
func (s *scanner) endTag() bool {
	src, t := s.src, &s.tag
	start, p := s.pos, s.pos+2
	if p == len(src) {
		s.pos = p
		return false
	}
	if !isLetter(src[p]) {
		s.skipBogus(p) // "</>" is ignored as well
		return false
	}
	for p < len(src) && class[src[p]]&(blank|slash|gt) == 0 {
		p++
	}
	t.name, t.end, t.selfEnd, t.text = span{start + 2, p}, true, false, span{}
	t.attrs = t.attrs[:0]
	if p < len(src) && src[p] == '>' {
		p++
	} else if p = s.attributes(p); p < 0 {
		s.pos = len(src)
		return false
	}
	s.pos, t.all = p, span{start, p}
	if s.places != nil {
		s.places.end(src, t, s.foreign.depth > 0)
	}
	if s.foreign.depth == 0 && !s.every {
		if len(t.name.of(src)) != len("template") {
			return false
		}
	}
	t.id = s.findTag(t.name.of(src))
	s.foreign.close(s)
	return s.every || t.id == tagTemplate
}

// attributes reads attributes from p on, and returns the offset after '>'; -1 if the document
// ends before.
func (s *scanner) attributes(p int) int {
	src, t := s.src, &s.tag
	s.row, s.seen = &placeOf[t.id], 0
	for {
		start := p
		for p < len(src) && class[src[p]]&(blank|slash) != 0 {
			p++
		}
		if p == len(src) {
			return -1
		}
		if src[p] == '>' {
			t.selfEnd = p > start && src[p-1] == '/'
			return p + 1
		}
		if p = s.attribute(p); p < 0 {
			return -1
		}
	}
}

// attribute reads an attribute whose name begins at p; -1 if the document ends before it is
// complete.
func (s *scanner) attribute(p int) int {
	src := s.src
	a := attr{name: span{p, p}}
	for p++; p < len(src) && class[src[p]] == 0; p++ { // a leading '=' is part of the name
	}
	a.name.to = p
	for p < len(src) && class[src[p]]&blank != 0 {
		p++
	}
	if p == len(src) {
		return -1
	}
	a.value = span{p, p}
	if src[p] == '=' {
		if p = s.value(&a, p+1); p < 0 {
			return -1
		}
	}
	s.keep(a)
	return p
}

// value reads the value after '='.
func (s *scanner) value(a *attr, p int) int {
	src := s.src
	for p < len(src) && class[src[p]]&blank != 0 {
		p++
	}
	if p == len(src) {
		return -1
	}
	if c := src[p]; c == '"' || c == '\'' {
		n := bytes.IndexByte(src[p+1:], c)
		if n < 0 {
			return -1
		}
		a.quote, a.value = c, span{p + 1, p + 1 + n}
		return p + n + 2
	}
	from := p
	for p < len(src) && class[src[p]]&(blank|gt) == 0 {
		p++
	}
	if p == len(src) {
		return -1
	}
	a.value = span{from, p}
	return p
}

// keep adds an attribute to the tag if the table lists it.
func (s *scanner) keep(a attr) {
	id := find(attrNames, a.name.of(s.src))
	if s.every {
		a.id = id
		s.tag.attrs = append(s.tag.attrs, a)
		return
	}
	if s.ids != nil && (id == attrID || id == attrName && s.tag.id == tagA) {
		*s.ids = append(*s.ids, idSpan{a.value, id == attrName})
	}
	if s.row[id] == 0 || s.seen&(1<<id) != 0 || s.tag.end {
		return
	}
	s.seen |= 1 << id
	a.id = id
	s.tag.attrs = append(s.tag.attrs, a)
}
