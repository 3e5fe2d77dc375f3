package htmlmeta

import (
	"bytes"
	"slices"
	"strings"
)

// tagPlaces notes where the start tags are that Rewrite does something about: those
// with an attribute of the table or with a text, all in SVG and MathML with the end
// tags there, and the few that say where the head is and where the body ends.
type tagPlaces struct {
	list  []uint32 // offsets of their '<', in order
	begun bool     // a tag came that is neither html nor head
	body  int      // where, behind its '<', the first tag is that is of no element of the head; 0 before it came
}

// start notes the start tag that was read. matters: the scanner gives it.
func (p *tagPlaces) start(src []byte, t *tag, matters bool) {
	if matters || t.id == tagHTML || !p.begun {
		p.list = append(p.list, uint32(t.all.from))
	}
	p.begun = p.begun || t.id != tagHTML && !bytes.EqualFold(t.name.of(src), []byte("head"))
	if p.body == 0 && !slices.Contains(ofHead, strings.ToLower(string(t.name.of(src)))) {
		p.body = t.name.from
	}
}

// ofHead are the elements that leave the head open (HTML §13.2.6.4.4), without which it is the body.
var ofHead = []string{"html", "head", "base", "link", "meta", "title", "script", "style", "noscript", "template"}

// end notes the end tag that was read.
func (p *tagPlaces) end(src []byte, t *tag, inForeign bool) {
	name := t.name.of(src)
	if inForeign || len(name) == 8 && equalFold(name, "template") || len(name) == 4 && equalFold(name, "body") {
		p.list = append(p.list, uint32(t.all.from))
	}
}

// HeadOf is a document up to the first tag of its body (HTML §13.2.6.4.4); all of it where it has none.
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

// aboutAll are the letters that a start tag begins with which says something of the
// page as a whole (base, meta, script), or whose content is not the page's (template,
// svg, math): of others, what collects tags for a rewriter wants to know nothing.
var aboutAll = [256]bool{'/': true, 'b': true, 'B': true, 'm': true, 'M': true, 's': true, 'S': true,
	't': true, 'T': true}

// nextKnown is next among the places that are known.
func (s *scanner) nextKnown() bool {
	for len(s.known) > 0 {
		at := int(s.known[0])
		s.known = s.known[1:]
		if at < s.pos || at+1 >= len(s.src) || s.src[at] != '<' {
			continue // in the text of the tag before
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

// arePlaces says whether offsets may be those of tags in a text.
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
