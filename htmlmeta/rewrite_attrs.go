package htmlmeta

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
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
			w.edit(w.withBlank(a), "") // of duplicates the first counts, but not for every reader
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
	if at, ok := t.get(attrRel); ok {
		return relWords(string(w.r.decode(nil, at.of(w.src), true)))
	}
	return ""
}

// attribute rewrites one attribute by the form it has in the table.
func (w *rewriter) attribute(t *tag, a *attr, f form, l Link) Change {
	text := w.value(a)
	switch f {
	case oneURL:
		return w.single(t, a, text, l)
	case linkHref:
		l.Kind = linkKind(l.Rel, strings.ToLower(w.named(t, "as")))
		return w.single(t, a, text, l)
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
			return w.single(t, a, text, l)
		}
	case archives:
		w.archives(t, a, text, l)
	}
	return Leave
}

// named is the value of another attribute of the tag.
func (w *rewriter) named(t *tag, name string) string {
	for i := range t.attrs {
		if isName(w.src, &t.attrs[i], name) {
			return strings.Trim(w.value(&t.attrs[i]), asciiBlank)
		}
	}
	return ""
}

func isURLParam(name string) bool {
	switch strings.ToLower(name) {
	case "movie", "src", "url", "href", "data", "file", "filename", "source", "image":
		return true
	}
	return false
}

// put replaces an attribute's value.
func (w *rewriter) put(a *attr, text string) {
	quote, before, after := a.quote, "", ""
	if quote == 0 {
		quote, before, after = '"', `"`, `"`
	}
	text = escapeAttr(text, quote)
	if !isASCII(text) {
		text = w.encode(text)
	}
	w.edit(a.value, before+text+after)
}

// putRaw replaces an attribute's value by text that is escaped for double
// quotes already.
func (w *rewriter) putRaw(a *attr, text string) {
	at := a.value
	if a.quote != 0 {
		at = span{at.from - 1, at.to + 1}
	}
	w.edit(at, `"`+text+`"`)
}

// encode brings text into the page's charset.
func (w *rewriter) encode(text string) string {
	if w.code.enc == nil || w.code.wide() {
		return text
	}
	out, err := encoderOf(w.code).String(text)
	if err != nil {
		return text
	}
	return out
}

// escapeAttr writes a value so that it can stand between such quotes, in
// HTML and in XML.
func escapeAttr(s string, quote byte) string {
	if !strings.ContainsAny(s, "&<\"'") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == quote && c == '"':
			b.WriteString("&#34;")
		case c == quote && c == '\'':
			b.WriteString("&#39;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// single rewrites an attribute that is one reference.
func (w *rewriter) single(t *tag, a *attr, text string, l Link) Change {
	if l.Tag == "use" && w.use(a, text, l) {
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

// putRef replaces an attribute's value by references.
func (w *rewriter) putRef(a *attr, to string, local bool) {
	if local && w.numeric && strings.IndexByte(to, '%') >= 0 {
		w.putRaw(a, numeric(escapeAttr(to, '"')))
		return
	}
	w.put(a, to)
}

// numeric writes percent-encoded letters of other scripts as character
// references. For a browser that is the same path; but there are readers that
// take percent-encoding for octets in the page's charset, which is not UTF-8.
func numeric(s string) string {
	var b strings.Builder
	for s != "" {
		octets := percentRun(s)
		if n := 3 * len(octets); n > 0 && utf8.Valid(octets) {
			for _, r := range string(octets) {
				fmt.Fprintf(&b, "&#%d;", r)
			}
			s = s[n:]
			continue
		}
		n := max(1, 3*len(octets))
		b.WriteString(s[:n])
		s = s[n:]
	}
	return b.String()
}

// percentRun is what the escapes of octets beyond ASCII at the start of s say.
func percentRun(s string) (octets []byte) {
	for len(s) >= 3 && s[0] == '%' && s[1] >= '8' && isHex(s[1]) && isHex(s[2]) {
		c, err := strconv.ParseUint(s[1:3], 16, 8)
		if err != nil {
			break
		}
		octets = append(octets, byte(c))
		s = s[3:]
	}
	return octets
}

// liveAttr is put in front of the name of an attribute whose reference is
// not to be loaded: it stays legible, and no browser follows it.
const liveAttr = "data-live-"

func (w *rewriter) silence(a *attr, value string) {
	name := strings.ToLower(string(a.name.of(w.src)))
	name = name[strings.LastIndexByte(name, ':')+1:] // data-live-xlink:href would need a namespace
	name = strings.TrimPrefix(name, "data-")
	w.edit(a.whole(), liveAttr+name+`="`+w.encode(escapeAttr(value, '"'))+`"`)
}

// unguard drops what guards a file against change or asks a server for leave:
// on a disk it forbids the file.
func (w *rewriter) unguard(t *tag) {
	for i := range t.attrs {
		a := &t.attrs[i]
		if isName(w.src, a, "integrity") || isName(w.src, a, "crossorigin") || isName(w.src, a, "codebase") {
			w.edit(w.withBlank(a), "")
		}
	}
}

// candidates rewrites a srcset. Candidates that are not to be loaded go; if
// none is left, the attribute does.
func (w *rewriter) candidates(a *attr, text string, l Link) Change {
	var spans []span
	eachCandidate(text, func(at span) bool {
		spans = append(spans, at)
		return len(spans) < MaxLinks
	})
	var b strings.Builder
	kept, result := 0, Leave
	same := true
	var last string
	for i, at := range spans {
		end := len(text)
		if i+1 < len(spans) {
			end = spans[i+1].from
		}
		change, to := w.ref(text[at.from:at.to], l)
		if change == Silent {
			same, last = false, to
			continue
		}
		if change == Leave {
			to = text[at.from:at.to]
		}
		if change == Local {
			result = Local
		}
		same = same && to == text[at.from:at.to]
		kept++
		b.WriteString(to)
		b.WriteString(text[at.to:end])
	}
	switch {
	case same:
	case kept == 0:
		w.silence(a, last)
	default:
		w.putRef(a, strings.TrimRight(b.String(), asciiBlank+","), result == Local)
	}
	return result
}

// inner rewrites a srcdoc, a document within an attribute.
func (w *rewriter) inner(a *attr, text string) {
	if w.r.inner >= maxInner || text == "" {
		return
	}
	r := readers.Get().(*reader)
	defer r.free()
	r.inner = w.r.inner + 1
	r.links.base = w.r.links.base // HTML §4.2.3: srcdoc inherits the base
	in := &rewriter{r: r, o: w.o}
	in.o.NoTranslate = false
	in.hasBase = w.hasBase
	in.page([]byte(text), utf8Code, false)
	for _, n := range in.needs {
		w.need(n)
	}
	if in.changed {
		w.put(a, string(in.finish()))
	}
}

// refresh rewrites the URL in a meta's content. One that is not to be loaded
// would leave the tree by itself.
func (w *rewriter) refresh(t *tag, a *attr, text string, l Link) {
	if !strings.EqualFold(w.named(t, "http-equiv"), "refresh") {
		return
	}
	at, ok := parseRefresh(text)
	if !ok {
		return
	}
	change, to := w.ref(text[at.from:at.to], l)
	if change == Leave || change != Silent && to == text[at.from:at.to] {
		return
	}
	// The plainest spelling: not every reader knows the others.
	i := skip(text, 0, asciiBlank)
	if to = text[i:skip(text, i, "0123456789.")] + "; url=" + to; to[0] == ';' {
		to = "0" + to
	}
	if change == Silent {
		w.silence(a, to)
	} else {
		w.putRef(a, to, change == Local)
	}
}

// archives rewrites an applet's files. They are relative to its codebase,
// which goes.
func (w *rewriter) archives(t *tag, a *attr, text string, l Link) {
	base := w.r.links.base
	defer func() { w.r.links.base = base }()
	if code := w.named(t, "codebase"); code != "" {
		if u, err := base.Resolve(strings.TrimSuffix(code, "/") + "/"); err == nil {
			w.r.links.base = u
		}
	}
	files := strings.Split(text, ",")
	for i, f := range files {
		if change, to := w.ref(f, l); change == Local || change == Live {
			files[i] = to
		}
	}
	if to := strings.Join(files, ","); to != text {
		w.put(a, to)
	}
}
