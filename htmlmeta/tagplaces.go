package htmlmeta

import (
	"bytes"
	"slices"
	"strings"
)

// tagPlaces collects the offsets of the tags that Rewrite needs: start tags with text or an
// attribute of the table, all tags in SVG and MathML, and the few that tell where the head
// begins and the body ends.
type tagPlaces struct {
	list  []uint32 // offsets of '<', in order
	begun bool     // a tag other than html and head was seen
	body  int      // offset after '<' of the first tag that does not belong to the head; 0: not seen yet
}

// start records a start tag. matters means that the scanner returns it.
func (p *tagPlaces) start(src []byte, t *tag, matters bool) {
	if matters || t.id == tagHTML || !p.begun {
		p.list = append(p.list, uint32(t.all.from))
	}
	p.begun = p.begun || t.id != tagHTML && !bytes.EqualFold(t.name.of(src), []byte("head"))
	if p.body == 0 && !slices.Contains(ofHead, strings.ToLower(string(t.name.of(src)))) {
		p.body = t.name.from
	}
}

// ofHead are the elements that do not end the head (HTML §13.2.6.4.4).
var ofHead = []string{"html", "head", "base", "link", "meta", "title", "script", "style", "noscript", "template"}

// end records an end tag.
func (p *tagPlaces) end(src []byte, t *tag, inForeign bool) {
	name := t.name.of(src)
	if inForeign || equalFold(name, "template") || equalFold(name, "body") {
		p.list = append(p.list, uint32(t.all.from))
	}
}

// HeadOf returns a document up to the first tag of its body (HTML §13.2.6.4.4), or all of it if
// there is none.
func HeadOf(src []byte) []byte {
	var p tagPlaces
	for s := (scanner{src: src, places: &p}); p.body == 0 && s.next(); {
	}
	if p.body == 0 {
		return src
	}
	return src[:p.body-1]
}

func (p *tagPlaces) reset() { *p = tagPlaces{list: trimmed(p.list)} }

// aboutAll are the first letters of the tags that describe the page as a whole (base, meta,
// script), or whose content is not part of it (template, svg, math). When collecting tags for a
// rewriter, others are skipped.
var aboutAll = [256]bool{'/': true, 'b': true, 'B': true, 'm': true, 'M': true, 's': true, 'S': true,
	't': true, 'T': true}

// nextKnown is next for known offsets.
func (s *scanner) nextKnown() bool {
	for len(s.known) > 0 {
		at := int(s.known[0])
		s.known = s.known[1:]
		if at < s.pos || at+1 >= len(s.src) || s.src[at] != '<' {
			continue // within the text of the previous tag
		}
		c := s.src[at+1]
		if !s.every && s.foreign.depth == 0 && !aboutAll[c] {
			continue
		}
		s.pos = at
		if c == '/' && s.endTag() || isLetter(c) && s.startTag() {
			return true
		}
	}
	s.pos, s.known = len(s.src), s.known[:0]
	return false
}

// arePlaces reports whether offsets may be those of tags in src.
func arePlaces(list []uint32, src []byte) bool {
	last := -1
	for _, at := range list {
		if int(at) <= last || int(at) >= len(src) || src[at] != '<' {
			return false
		}
		last = int(at)
	}
	return len(list) > 0
}
