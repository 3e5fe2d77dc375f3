package htmlmeta

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// sprite is an SVG file whose parts a page uses. Browsers refuse that on a
// file: URL, so the page takes the sprite in.
type sprite struct {
	url    weburl.URL
	prefix string // of its ids
	markup string // "": it cannot be read
}

// use makes a reference to a part of another SVG file one to a part of this
// page; false where it is none or the file cannot be taken in.
func (w *rewriter) use(a *attr, text string) bool {
	ref := trimRef(text)
	i := indexByteOrLen(ref, '#')
	if i == 0 || i == len(ref) || foreignScheme(ref[:i]) {
		return false
	}
	u, err := w.r.links.resolve(ref[:i])
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
	w.put(a, "#"+s.prefix+ref[i+1:])
	return true
}

// partOfPage makes the references of a sprite to other files ones of this page.
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

// spriteEnd puts the sprites in, once, at the end of the body.
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

// maxSprites bounds how many SVG files a page takes in.
const maxSprites = 16

// MaxSprite bounds what is taken in of one SVG file, in bytes.
const MaxSprite = 512 << 10

// Sprite gives an SVG file as markup that an HTML page can hold, all its ids
// and the references to them with prefix in front, those to other files as
// they were; "" if it is none, is not well-formed, or does more than draw.
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

// rootElement is where the root of a picture stands. What lies behind
// it is not of the document (XML 1.0 §2.1). False where its tags do not pair,
// or where it holds what a picture does not run but a page would.
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

// isOfThePage says whether an element would not stay in the picture where a page holds
// that: it breaks out of it, or lies in what HTML reads as its own (HTML §13.2.6.5).
func isOfThePage(s *scanner, name string, open []string) bool {
	return breaksOut(s, strings.ToLower(name)) || len(open) > 0 &&
		integrationPoint("svg", strings.ToLower(open[len(open)-1]))
}

// prefix renames an id, or the references to ids, in an attribute. False: it
// is an event handler or a URL with javascript:, which would run in the page.
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
		url := trimRef(strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(w.value(a))) // URL §4.4, 1 and 3
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
