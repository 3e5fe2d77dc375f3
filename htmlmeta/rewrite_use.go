package htmlmeta

import (
	"fmt"
	"slices"
	"strings"

	"curtsy/internal/weburl"
)

// sprite is an SVG file whose parts a page uses. Browsers refuse that on a
// file: URL, so the page takes the sprite in.
type sprite struct {
	url    weburl.URL
	prefix string // of its ids
	markup string // "": it cannot be had
}

// use makes a reference to a part of another SVG file one to a part of this
// page; false where it is none or the file cannot be taken in.
func (w *rewriter) use(a *attr, text string, l Link) bool {
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
		w.sprites = append(w.sprites, sprite{u, prefix, w.o.Inline(u, prefix)})
	}
	s := &w.sprites[at]
	if s.markup == "" {
		w.need("use")
		return false
	}
	w.put(a, "#"+s.prefix+ref[i+1:])
	return true
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

// maxSprite bounds what is taken in of one SVG file, in bytes.
const maxSprite = 512 << 10

// Sprite gives an SVG file as markup that an HTML page can hold, all its ids
// and the references to them with prefix in front; "" if it is none.
func Sprite(body []byte, prefix string) string {
	if len(body) > maxSprite || !isSVG(body) {
		return ""
	}
	w := &rewriter{src: body, r: new(reader), xml: true}
	s := scanner{src: body, xml: true, every: true}
	from, to := -1, -1
	for s.next() {
		t := &s.tag
		if from < 0 {
			from = t.all.from
		}
		if t.end {
			to = t.all.to
			continue
		}
		if t.id == tagScript {
			return "" // what runs in a picture is not to run in a page
		}
		if t.selfEnd && to < 0 && t.all.from == from {
			return ""
		}
		for i := range t.attrs {
			w.prefix(&t.attrs[i], prefix)
		}
		w.apply()
	}
	if to < from {
		return ""
	}
	w.src, from = w.src[:to], from+0
	out := w.finish()
	return string(out[from:])
}

// prefix renames an id, or the references to ids, in an attribute.
func (w *rewriter) prefix(a *attr, prefix string) {
	v := string(a.value.of(w.src))
	switch {
	case isName(w.src, a, "id"):
		w.edit(a.value, prefix+v)
	case isName(w.src, a, "href"), isName(w.src, a, "xlink:href"):
		if strings.HasPrefix(v, "#") {
			w.edit(a.value, "#"+prefix+v[1:])
		}
	default:
		if strings.Contains(v, "url(#") {
			w.edit(a.value, strings.ReplaceAll(v, "url(#", "url(#"+prefix))
		}
	}
}
