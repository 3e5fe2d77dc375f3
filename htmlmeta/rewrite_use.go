package htmlmeta

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// sprite is an SVG file of which a page uses parts. Browsers refuse this for file: URLs, so the
// sprite is inlined.
type sprite struct {
	url    weburl.URL
	prefix string // of its ids
	markup string // "": it cannot be read
}

// use replaces a reference to a part of another SVG file by one to the inlined sprite; false if
// it is not such a reference or the file cannot be inlined.
func (w *rewriter) use(a *attr, text string) bool {
	file, part := cutFragment(trimRef(text))
	if file == "" || part == "" || foreignScheme(file) {
		return false
	}
	u, err := w.r.links.resolve(file)
	if err != nil || w.o.Inline == nil || w.xml {
		return false
	}
	at := slices.IndexFunc(w.sprites, func(s sprite) bool { return s.url == u })
	if at < 0 {
		if len(w.sprites) == maxSprites {
			w.need("use")
			return false
		}
		prefix := fmt.Sprintf("sprite%d-", len(w.sprites)+1)
		at = len(w.sprites)
		w.sprites = append(w.sprites, sprite{u, prefix, w.partOfPage(w.o.Inline(u, prefix))})
	}
	s := &w.sprites[at]
	if s.markup == "" {
		w.need("use")
		return false
	}
	w.put(a, "#"+s.prefix+part[1:])
	return true
}

// partOfPage rewrites the references of a sprite to other files, since it becomes part of this
// page.
func (w *rewriter) partOfPage(markup string, base weburl.URL) string {
	within := strings.Count(markup, `href="#`) + strings.Count(markup, `href='#`) + strings.Count(markup, "url(#")
	all := strings.Count(markup, "href") + strings.Count(markup, "url(")
	if all == within && !strings.Contains(markup, "src") && !strings.Contains(markup, "@import") {
		return markup
	}
	svg := http.Header{"Content-Type": {"image/svg+xml; charset=utf-8"}}
	out := Rewrite(Page{URL: base, Header: svg, Body: []byte(markup)}, Rewriting{Ref: w.o.Ref})
	for _, what := range out.NeedsHTTP {
		w.need(what)
	}
	return string(out.Body)
}

// spriteEnd inserts the sprites at the end of the body, once.
func (w *rewriter) spriteEnd(at int) {
	var b strings.Builder
	for i := range w.sprites {
		if s := &w.sprites[i]; s.markup != "" {
			b.WriteString(w.encode(s.markup))
			s.markup = ""
		}
	}
	if b.Len() > 0 {
		w.edit(span{at, at}, `<div hidden style="display:none">`+b.String()+"</div>")
	}
}

// maxSprites is the most SVG files inlined in a page.
const maxSprites = 16

// MaxSprite is the maximum length in bytes of an SVG file to inline.
const MaxSprite = 512 << 10

// Sprite returns an SVG file as markup for an HTML page, with prefix added to all its ids and
// the references to them. It returns "" if the file is not SVG, not well-formed, or could run
// code in the page.
func Sprite(body []byte, prefix string) string {
	if len(body) > MaxSprite || !isSVG(body) {
		return ""
	}
	at, ok := rootElement(body)
	if !ok {
		return ""
	}
	w := &rewriter{src: at.of(body), r: new(reader), xml: true}
	s := scanner{src: w.src, xml: true, every: true}
	for s.next() {
		for i := range s.tag.attrs {
			if !w.prefix(&s.tag.attrs[i], prefix) {
				return ""
			}
		}
		w.apply()
	}
	return string(w.finish())
}

// rootElement returns the span of an image's root element; what follows it is ignored. ok is
// false if its tags do not match, or if it contains what would be executed in a page (XML 1.0
// §2.1).
func rootElement(body []byte) (at span, ok bool) {
	s := scanner{src: body, xml: true, every: true}
	var open []string
	for s.next() {
		t := &s.tag
		name := string(t.name.of(body))
		switch {
		case t.end:
			if len(open) == 0 || open[len(open)-1] != name {
				return at, false
			}
			open = open[:len(open)-1]
		case t.id == tagScript || strings.EqualFold(name, "foreignObject") || isOfThePage(&s, name, open):
			return at, false
		default:
			if len(open) == 0 {
				at.from = t.all.from
			}
			if len(open) == 0 && (t.selfEnd || name != "svg") {
				return at, false // empty, or with a prefix that HTML does not know
			}
			if !t.selfEnd {
				open = append(open, name)
			}
		}
		if len(open) == 0 {
			at.to = t.all.to
			return at, true
		}
	}
	return at, false
}

// isOfThePage reports whether an element would leave the image when an HTML parser reads it:
// because it breaks out of foreign content, or is within an integration point (HTML §13.2.6.5).
func isOfThePage(s *scanner, name string, open []string) bool {
	return breaksOut(s, strings.ToLower(name)) || len(open) > 0 &&
		integrationPoint("svg", strings.ToLower(open[len(open)-1]))
}

// prefix renames an id, or references to ids, in an attribute. It returns false for event
// handlers and javascript: URLs, which would run in the page.
func (w *rewriter) prefix(a *attr, prefix string) bool {
	v := string(a.value.of(w.src))
	name := strings.ToLower(string(a.name.of(w.src)))
	switch {
	case name == "id":
		w.edit(a.value, prefix+v)
	case name == "href", name == "xlink:href", name == "src":
		if strings.HasPrefix(v, "#") {
			w.edit(a.value, "#"+prefix+v[1:])
		}
		url := trimRef(strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(w.value(a))) // URL §4.4, steps 1 and 3
		return !foreignScheme(url) || strings.HasPrefix(url, "data:image/")
	case strings.HasPrefix(name, "on"):
		return false
	default:
		if strings.Contains(v, "url(#") {
			w.edit(a.value, strings.ReplaceAll(v, "url(#", "url(#"+prefix))
		}
	}
	return true
}
