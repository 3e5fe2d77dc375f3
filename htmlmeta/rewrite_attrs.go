package htmlmeta

import (
	"strings"
)

// attributes rewrites the references of a start tag.
func (w *rewriter) attributes(t *tag) {
	row := &placeOf[t.id]
	var seen uint64
	var local bool
	l := Link{Tag: w.tagName(t), Rel: w.relOf(t)}
	for i := range t.attrs {
		a := &t.attrs[i]
		if a.id == 0 || row[a.id] == 0 || places[row[a.id]-1].form == aside {
			continue
		}
		p := &places[row[a.id]-1]
		if seen&(1<<a.id) != 0 {
			w.edit(w.withBlank(a), "") // the first duplicate counts, but not for every parser
			continue
		}
		seen |= 1 << a.id
		l.Attr, l.Kind = p.attr, p.kind
		if w.attribute(t, a, p.form, l) == Local {
			local = true
		}
	}
	if local {
		w.unguard(t)
	}
}

// tagName is the tag's name in lower case.
func (w *rewriter) tagName(t *tag) string {
	if t.id != 0 {
		return tagNames.list[t.id]
	}
	return strings.ToLower(string(t.name.of(w.src)))
}

func (w *rewriter) relOf(t *tag) string {
	return relWords(string(w.r.decode(nil, t.first(attrRel).of(w.src), true)))
}

// attribute rewrites an attribute according to its form in the table.
func (w *rewriter) attribute(t *tag, a *attr, f form, l Link) Change {
	if f == linkHref {
		l.Kind = linkKind(l.Rel, strings.ToLower(w.named(t, "as")))
	}
	text := w.value(a)
	switch f {
	case background, handler, choice:
		w.attributeCode(a, f, text, l)
	case oneURL:
		if hasJavaScript(text) {
			w.attributeCode(a, handler, text, l)
			return Leave
		}
		return w.single(a, text, l)
	case linkHref:
		return w.single(a, text, l)
	case srcset:
		return w.candidates(a, text, l)
	case cssStyle:
		if to, ok := w.css([]byte(text), l); ok {
			w.put(a, string(to))
		}
	case document:
		w.inner(a, text)
	case refresh:
		w.refresh(t, a, text, l)
	case param:
		if isURLParam(w.named(t, "name")) {
			return w.single(a, text, l)
		}
	case archives:
		w.archives(t, a, text, l)
	}
	return Leave
}

// named returns the value of another attribute of the tag.
func (w *rewriter) named(t *tag, name string) string {
	for i := range t.attrs {
		if isName(w.src, &t.attrs[i], name) {
			return strings.Trim(w.value(&t.attrs[i]), asciiBlank)
		}
	}
	return ""
}

// isURLParam reports whether the value of a param element of that name is a URL.
func isURLParam(name string) bool {
	switch strings.ToLower(strings.Trim(name, asciiBlank)) {
	case "movie", "src", "url", "href", "data", "file", "filename", "source", "image":
		return true
	}
	return false
}

// single rewrites an attribute that is one reference.
func (w *rewriter) single(a *attr, text string, l Link) Change {
	if l.Tag == "use" && w.use(a, text) {
		return Local
	}
	change, to := w.ref(text, l)
	switch change {
	case Silent:
		w.silence(a, to)
	case Local, Live:
		if to != text {
			w.putRef(a, to, change == Local)
		}
	}
	return change
}

// liveAttr is the prefix of renamed attributes, whose reference must not be loaded but stays
// readable.
const liveAttr = "data-live-"

func (w *rewriter) silence(a *attr, value string) {
	name := strings.ToLower(string(a.name.of(w.src)))
	name = name[strings.LastIndexByte(name, ':')+1:] // data-live-xlink:href would need a namespace
	name = strings.TrimPrefix(name, "data-")
	w.edit(a.whole(), liveAttr+name+`="`+w.encode(escapeAttr(value, '"'))+`"`)
}

// unguard removes integrity, crossorigin and codebase, which keep browsers from loading local
// files.
func (w *rewriter) unguard(t *tag) {
	for i := range t.attrs {
		a := &t.attrs[i]
		if isName(w.src, a, "integrity") || isName(w.src, a, "crossorigin") || isName(w.src, a, "codebase") {
			w.edit(w.withBlank(a), "")
		}
	}
}
