package htmlmeta

import (
	"bytes"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Note is a fact about a page that an audit may report, in addition to links and directives.
type Note struct {
	Name NoteName
	Text string
}

// NoteName is the kind of a Note.
type NoteName uint8

// Kinds of notes. Elements in templates are ignored.
const (
	NoteTitle       NoteName = iota + 1 // a non-empty title
	NoteHeading                         // an h1: "text" if it has text, otherwise ""
	NoteDescription                     // meta description
	NoteRobots                          // the content of a meta robots
	NoteCanonical                       // link rel=canonical in the head, verbatim
	NoteMisplaced                       // the same in the body
	NoteAlternate                       // link rel=alternate hreflang: language, blank, reference
	NoteLang                            // lang of the html element
	NoteViewport                        // meta viewport
	NoteZoom                            // a viewport that prevents zooming
	NoteRefresh                         // meta refresh
	NoteNoAlt                           // source of an image, or link of an area, without alt
	NoteFrame                           // source of a frame without a title
	NoteSkips                           // a skipped heading level: "h4 after h2"
	NoteIDTwice                         // an id that occurs twice
)

// maxNotes is the most notes of a document, maxNote the most octets of their text.
const (
	maxNotes = 1000
	maxNote  = 1024
)

// notes collects the notes of a scan, as spans of the source.
type notes struct {
	list  []noteSpan
	level name // of the last heading
}

type noteSpan struct {
	Name  NoteName
	value span
}

func (n *notes) reset() { *n = notes{list: trimmed(n.list)} }

func (n *notes) add(name NoteName, value span) {
	if len(n.list) < maxNotes {
		n.list = append(n.list, noteSpan{name, value})
	}
}

// look adds the notes for a start tag (WCAG 1.1.1, 1.3.1, 4.1.2).
func (n *notes) look(s *scanner) {
	t := &s.tag
	switch t.id {
	default:
		if t.id < tagH1 || t.id > tagH6 {
			return
		}
		if n.level != 0 && t.id > n.level+1 {
			n.add(NoteSkips, span{int(t.id - tagH1), int(n.level - tagH1)})
		}
		if n.level = t.id; t.id == tagH1 {
			n.add(NoteHeading, headingText(s.src, s.pos))
		}
	case tagTitle:
		if !t.text.empty() {
			n.add(NoteTitle, t.text)
		}
	case tagImg:
		if !t.has(attrAlt) && !t.isHidden(s.src) {
			n.add(NoteNoAlt, t.first(attrSrc))
		}
	case tagArea:
		if t.has(attrHref) && !t.has(attrAlt) && !t.isNamed() {
			n.add(NoteNoAlt, t.first(attrHref))
		}
	case tagInput:
		if bytes.EqualFold(t.first(attrType).of(s.src), []byte("image")) && !t.has(attrAlt) && !t.isNamed() {
			n.add(NoteNoAlt, t.first(attrSrc))
		}
	case tagIframe, tagFrame:
		if !t.isNamed() && !t.isHidden(s.src) {
			n.add(NoteFrame, t.first(attrSrc))
		}
	}
}

// isNamed reports whether a tag has an accessible name.
func (t *tag) isNamed() bool {
	for i := range t.attrs {
		switch a := &t.attrs[i]; a.id {
		case attrAriaLabel, attrLabelledBy, attrTitle:
			if !a.value.empty() {
				return true
			}
		}
	}
	return false
}

func (t *tag) isHidden(src []byte) bool {
	return string(t.first(attrRole).of(src)) == "presentation" || string(t.first(attrAriaHidden).of(src)) == "true"
}

func (t *tag) has(id name) bool {
	_, ok := t.get(id)
	return ok
}

func (t *tag) first(id name) span {
	v, _ := t.get(id)
	return v
}

// headingText returns a part of the text of the heading whose content begins at pos; empty if
// it has no text.
func headingText(src []byte, pos int) span {
	for pos < len(src) {
		switch c := src[pos]; {
		case c == '<' && pos+3 < len(src) && src[pos+1] == '/' && src[pos+2]|0x20 == 'h' && isDigit(src[pos+3]):
			return span{}
		case c == '<':
			end := bytes.IndexByte(src[pos:], '>')
			if end < 0 {
				return span{}
			}
			pos += end + 1
		case class[c]&blank == 0:
			return span{pos, pos + 1}
		default:
			pos++
		}
	}
	return span{}
}

// addNotes decodes the notes of the scan and adds those of the head. nodes are those of the
// elements.
func (r *reader) addNotes(src []byte, nodes []*html.Node) {
	for _, n := range r.found.notes.list {
		switch n.Name {
		case NoteSkips:
			r.note(n.Name, "h"+string(rune('1'+n.value.from))+" after h"+string(rune('1'+n.value.to)))
		case NoteHeading:
			text := ""
			if !n.value.empty() {
				text = "text"
			}
			r.note(n.Name, text)
		case NoteTitle:
			r.note(n.Name, titleText(string(r.decode(nil, n.value.of(src), false))))
		default:
			r.note(n.Name, string(r.decode(nil, n.value.of(src), true)))
		}
	}
	r.noteTwins(src)
	for i := range r.found.list {
		switch el := &r.found.list[i]; el.tag {
		case tagHTML:
			if lang := strings.TrimSpace(attrOf(nodes[i], "lang")); lang != "" {
				r.note(NoteLang, lang)
			}
		case tagMeta:
			r.noteMeta(nodes[i])
		case tagLink:
			r.noteLink(nodes[i], r.places.body > 0 && el.name.from > r.places.body)
		}
	}
}

// noteTwins notes each id that occurs more than once.
func (r *reader) noteTwins(src []byte) {
	times := map[uint64]int{} // by the hash of the id
	for _, id := range r.found.ids {
		v := id.value.of(src)
		if id.isName || len(v) == 0 {
			continue
		}
		hash := maphash.Bytes(r.found.seed, v)
		if times[hash]++; times[hash] == 2 {
			r.note(NoteIDTwice, string(r.decode(nil, v, true)))
		}
	}
}

func (r *reader) noteMeta(n *html.Node) {
	content := attrOf(n, "content")
	switch strings.ToLower(strings.TrimSpace(attrOf(n, "name"))) {
	case "description":
		r.note(NoteDescription, content)
	case "robots":
		r.note(NoteRobots, content)
	case "viewport":
		r.note(NoteViewport, "")
		if content = strings.ReplaceAll(strings.ToLower(content), " ", ""); noZoom.MatchString(content) {
			r.note(NoteZoom, content)
		}
	}
	if strings.EqualFold(attrOf(n, "http-equiv"), "refresh") && content != "" {
		r.note(NoteRefresh, content)
	}
}

var noZoom = regexp.MustCompile(`(^|[,;])(user-scalable=(no|0)|maximum-scale=(0|1)(\.\d*)?)([,;]|$)`)

func (r *reader) noteLink(n *html.Node, inBody bool) {
	rel, href := strings.Fields(strings.ToLower(attrOf(n, "rel"))), strings.TrimSpace(attrOf(n, "href"))
	lang := strings.TrimSpace(attrOf(n, "hreflang"))
	switch {
	case slices.Contains(rel, "canonical") && inBody:
		r.note(NoteMisplaced, href)
	case slices.Contains(rel, "canonical"):
		r.note(NoteCanonical, href)
	case slices.Contains(rel, "alternate") && lang != "":
		r.note(NoteAlternate, strings.ReplaceAll(lang, " ", "")+" "+href)
	}
}

func (r *reader) note(name NoteName, text string) {
	if len(r.doc.Notes) < maxNotes {
		text = strings.Join(strings.Fields(text[:min(len(text), maxNote)]), " ")
		r.doc.Notes = append(r.doc.Notes, Note{name, strings.ToValidUTF8(text, "")})
	}
}
