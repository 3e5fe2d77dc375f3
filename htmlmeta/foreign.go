package htmlmeta

import "strings"

// maxForeign is the deepest nesting of svg, math and HTML within them that is tracked.
const maxForeign = 64

// foreign tracks whether the scanner is in SVG or MathML. There, title, style and script are
// not raw text, "<script/>" is self-closing, and CDATA sections exist (HTML §13.2.6.5). It
// tracks only the elements that change this, so it approximates the tree builder's state.
type foreign struct {
	depth int
	stack [maxForeign]foreignElement
}

type foreignElement struct {
	name string
	html bool // an integration point: contains HTML
}

// inside reports whether the scanner is in foreign content.
func (f *foreign) inside() bool { return f.depth > 0 && !f.stack[f.depth-1].html }

// open handles a start tag, and reports whether it is a foreign element.
func (f *foreign) open(s *scanner) bool {
	t := &s.tag
	if f.depth == 0 && t.id != tagSVG && t.id != tagMath {
		return false
	}
	name := strings.ToLower(string(clip(t.name.of(s.src))))
	inside := f.inside()
	switch {
	case inside && breaksOut(s, name):
		for f.inside() {
			f.depth--
		}
		return false
	case t.id == tagSVG, t.id == tagMath:
		f.push(t, name, false)
		return true
	case inside && integrationPoint(f.root(), name):
		f.push(t, name, true)
		return true
	}
	return inside
}

func (f *foreign) push(t *tag, name string, html bool) {
	if t.selfEnd || f.depth == maxForeign {
		return
	}
	f.stack[f.depth] = foreignElement{name, html}
	f.depth++
}

// root returns the nearest svg or math element.
func (f *foreign) root() string {
	for i := f.depth - 1; i >= 0; i-- {
		if !f.stack[i].html {
			return f.stack[i].name
		}
	}
	return ""
}

// close handles an end tag.
func (f *foreign) close(s *scanner) {
	if f.depth == 0 {
		return
	}
	name := strings.ToLower(string(clip(s.tag.name.of(s.src))))
	if f.inside() && endsForeign(name) {
		for f.inside() {
			f.depth--
		}
		return
	}
	for i := f.depth - 1; i >= 0; i-- {
		if f.stack[i].name == name {
			f.depth = i
			return
		}
	}
}

// clip cuts a name to the length of the longest that matters here.
func clip(b []byte) []byte { return b[:min(len(b), 16)] }

// integrationPoint reports whether an element contains HTML.
func integrationPoint(root, name string) bool {
	if root == "svg" {
		return name == "foreignobject" || name == "desc" || name == "title"
	}
	switch name {
	case "mi", "mo", "mn", "ms", "mtext", "annotation-xml":
		return true
	}
	return false
}

// breaksOut reports whether a start tag ends the surrounding foreign content.
func breaksOut(s *scanner, name string) bool {
	switch name {
	case "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed",
		"h1", "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta",
		"nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup",
		"table", "tt", "u", "ul", "var":
		return true
	case "font":
		return fontBreaksOut(s)
	}
	return false
}

// endsForeign reports whether an end tag ends foreign content: it belongs to an HTML element
// around it, or is p or br, which break out.
func endsForeign(name string) bool {
	switch name {
	case "p", "br", "html", "head", "body", "div", "span", "li", "ul", "ol", "dl", "dt", "dd", "td",
		"th", "tr", "table",
		"button", "label", "form", "section", "article", "main", "header", "footer", "nav", "aside", "figure",
		"h1", "h2", "h3", "h4", "h5", "h6", "b", "i", "em", "strong", "center", "pre", "code":
		return true
	}
	return false
}

// fontBreaksOut reports whether a font element has HTML's attributes.
func fontBreaksOut(s *scanner) bool {
	tag := strings.ToLower(string(s.tag.all.of(s.src)))
	return strings.Contains(tag, "color") || strings.Contains(tag, "face") || strings.Contains(tag, "size")
}
