package htmlmeta

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
)

// page rewrites markup.
func (w *rewriter) page(body []byte, code textCode, xml bool) {
	r := w.r
	body = r.scanAll(body, &code, xml)
	w.src, w.code, w.xml = body, code, xml
	r.setCode(code)
	switch {
	case r.inner > 0: // a srcdoc inherits the policy of its page
	case !xml:
		w.front = w.declaration(body) + w.policy(">") + w.scriptRef() + w.fromHeader()
	case !isSVG(body):
		w.front = w.policy("/>") + w.scriptRef()
	}
	if xml && !isSVG(body) {
		w.front = w.o.Head + w.front
	} else if !xml && w.o.Head != "" {
		at := prologEnd(body)
		w.edit(span{at, at}, w.o.Head)
		w.apply()
	}
	w.numeric = code.name != "utf-8" || isASCIIBytes(body) && !r.declared(body, xml).known()
	w.findBase()
	if xml {
		w.styleInstructions()
	}
	s := scanner{src: body, xml: xml, every: true, known: r.known}
	for !w.stopped() && s.next() {
		w.tag(&s)
		w.apply()
	}
	w.close()
}

// policy returns the meta element for Rewriting.Policy.
func (w *rewriter) policy(end string) string {
	if w.o.Policy == "" {
		return ""
	}
	return `<meta http-equiv="Content-Security-Policy" content="` + escapeAttr(w.o.Policy, '"') + `"` + end
}

// scriptRef returns the element for Rewriting.Script, if the page has scripts.
func (w *rewriter) scriptRef() string {
	w.scripted = w.o.Script != "" && slices.ContainsFunc(w.r.found.list,
		func(el element) bool { return el.tag == tagScript })
	if !w.scripted {
		return ""
	}
	return `<script src="` + escapeAttr(w.o.Script, '"') + `"></script>`
}

// prologEnd returns the offset after the doctype and what precedes it. What is inserted there
// comes first in the head for every parser.
func prologEnd(src []byte) int {
	end := len(src) - len(bytes.TrimPrefix(src, []byte(bomUTF8)))
	for at := end; ; {
		for at < len(src) && class[src[at]]&blank != 0 {
			at++
		}
		rest := src[at:]
		switch {
		case len(rest) > 9 && hasPrefixFold(rest, "<!doctype"):
			i := bytes.IndexByte(rest, '>')
			if i < 0 {
				return end
			}
			return at + i + 1
		case bytes.HasPrefix(rest, []byte("<?")): // for HTML parsers a comment that ends at the first >
			i := bytes.IndexByte(rest, '>')
			if i < 0 {
				return end
			}
			at += i + 1
		case bytes.HasPrefix(rest, []byte("<!-->")), bytes.HasPrefix(rest, []byte("<!--->")):
			return end
		case bytes.HasPrefix(rest, []byte("<!--")):
			i := bytes.Index(rest, []byte("-->"))
			if i < 0 || bytes.Contains(rest[:i], []byte("--!>")) {
				return end
			}
			at += i + 3
		default:
			return end
		}
	}
}

// findBase resolves the first base, as Read does.
func (w *rewriter) findBase() {
	r := w.r
	for i := range r.found.list {
		el := &r.found.list[i]
		if el.tag != tagBase {
			continue
		}
		for _, a := range r.found.attrs[el.attrs.from:el.attrs.to] {
			if a.id != attrHref {
				continue
			}
			href := string(r.decode(nil, a.value.of(w.src), true))
			if u, err := r.links.resolve(href); href != "" && err == nil {
				r.links.base, w.hasBase = u, true
			}
			return
		}
	}
}

// declaration returns a meta charset element if only the response header declares the charset,
// since files on disk have no header.
func (w *rewriter) declaration(body []byte) string {
	if !w.byHeader.known() || isASCIIBytes(body) || codeByBOM(body).known() {
		return ""
	}
	if w.r.declared(body, false).name == w.byHeader.name {
		return ""
	}
	return `<meta charset="` + w.byHeader.name + `">`
}

// fromHeader returns markup for headers that a page on disk has lost: X-Robots-Tag, Refresh,
// and Link with a style sheet.
func (w *rewriter) fromHeader() string {
	var b strings.Builder
	h := http.Header(w.header)
	if asked := directivesToAll(h); asked != "" {
		b.WriteString(`<meta name="robots" content="` + escapeAttr(asked, '"') + `">`)
	}
	for _, line := range h["Refresh"] {
		if at, ok := parseRefresh(line); ok {
			if change, to := w.ref(line[at.from:at.to],
				Link{Tag: "header", Attr: "Refresh", Kind: Navigation}); change == Local {
				b.WriteString(`<meta http-equiv="refresh" content="` + escapeAttr(line[:at.from]+to+line[at.to:], '"') +
					`">`)
			}
		}
	}
	for _, line := range h["Link"] {
		eachHeaderLink(line, func(l headerLink) {
			rel := relWords(l.rel)
			if l.anchored || !hasWord(rel, "stylesheet") || hasWord(rel, "alternate") {
				return
			}
			if change, to := w.ref(l.target, Link{Tag: "header", Attr: "Link", Rel: rel,
				Kind: Requisite}); change == Local {
				b.WriteString(`<link rel="stylesheet" href="` + escapeAttr(to, '"') + `">`)
			}
		})
	}
	return b.String()
}

// directivesToAll returns the X-Robots-Tag directives addressed to all robots, in case the copy
// is published. Not included are those for our agents only, and notranslate, which is applied
// already.
func directivesToAll(h http.Header) string {
	var asked []string
	for _, s := range ReadDirectives(h, Options{}).Sources {
		if s.Directive != "notranslate" && !slices.Contains(asked, s.Directive) {
			asked = append(asked, s.Directive)
		}
	}
	return strings.Join(asked, ", ")
}

// styleInstructions rewrites the style sheets that the prolog of an XML document names.
func (w *rewriter) styleInstructions() {
	for _, m := range styleInstruction.FindAllSubmatchIndex(w.src[:min(len(w.src), sniffLength)], -1) {
		at, quote := span{m[2], m[3]}, byte('"')
		if m[2] < 0 {
			at, quote = span{m[4], m[5]}, '\''
		}
		text := string(appendUnescaped(nil, string(at.of(w.src))))
		switch change, to := w.ref(text, Link{Tag: "xml-stylesheet", Attr: "href", Kind: Requisite}); change {
		case Local, Live:
			w.edit(at, escapeAttr(to, quote))
		case Silent: // browsers ignore a processing instruction with another name
			w.edit(span{m[0] + len("<?"), m[0] + len("<?xml")}, "live")
		}
	}
	w.apply()
}

// tag rewrites a tag and the raw text after it.
func (w *rewriter) tag(s *scanner) {
	t := &s.tag
	if t.end {
		w.endTag(t)
		return
	}
	w.head(t)
	switch t.id {
	case tagBase:
		w.dropBase(t)
		return
	case tagMeta:
		if w.isPolicy(t) {
			w.edit(t.all, "")
			return
		}
	case tagStyle:
		w.styleText(t)
	case tagScript:
		w.script(t)
	}
	w.attributes(t)
}

// head inserts what belongs to the beginning of html and head. Parsers create these elements at
// the first other tag or text.
func (w *rewriter) head(t *tag) {
	name := t.name.of(w.src)
	at := t.all.from
	if !w.xml && w.front != "" {
		at = textBefore(w.src, w.looked, at)
		w.looked = t.all.to
	}
	switch {
	case equalFold(name, "html") && at == t.all.from:
		if w.o.NoTranslate && !w.html {
			w.noTranslate(t)
		}
		w.html = true
		return
	case equalFold(name, "head") && at == t.all.from:
		switch {
		case w.front == "":
		case w.xml && t.selfEnd:
			w.edit(span{t.all.to - len("/>"), t.all.to}, ">"+w.front+"</"+string(name)+">")
		default:
			w.edit(span{t.all.to, t.all.to}, w.front)
		}
	case w.xml:
		return // without a head there is no place for it
	default:
		text := w.front
		if w.o.NoTranslate && !w.html && !w.xml {
			text = `<html translate="no">` + text
		}
		if text != "" {
			w.edit(span{at, at}, text)
		}
		w.html = true
	}
	w.front = ""
}

// textBefore returns the offset of what opens the head between from, the end of a tag or 0, and the tag at
// to: text, or a stray end tag; to if there is none.
func textBefore(src []byte, from, to int) int {
	at := from
	if from == 0 {
		at = prologEnd(src)
	}
	for s := (scanner{src: src[:to], pos: from, every: true}); ; at = s.tag.all.to {
		more, end := s.next(), to
		if more {
			end = s.tag.all.from
		}
		if i := textIn(src[at:max(at, end)]); i >= 0 {
			return at + i
		}
		if !more {
			return to
		}
		if s.tag.end && slices.Contains(opening, strings.ToLower(string(s.tag.name.of(src)))) {
			return end
		}
	}
}

// opening are the elements whose end tags open head and body where these are not open (HTML §13.2.6.4).
var opening = []string{"head", "body", "html", "br"}

func (w *rewriter) noTranslate(t *tag) {
	for i := range t.attrs {
		if a := &t.attrs[i]; isName(w.src, a, "translate") {
			w.edit(a.whole(), `translate="no"`)
			return
		}
	}
	w.edit(span{t.name.to, t.name.to}, ` translate="no"`)
}

// dropBase removes the href of a base element, since references are resolved already.
func (w *rewriter) dropBase(t *tag) {
	others, before := false, len(w.edits) // edits before this tag stay
	for i := range t.attrs {
		if a := &t.attrs[i]; isName(w.src, a, "href") {
			w.edit(w.withBlank(a), "")
		} else {
			others = true
		}
	}
	if !others && len(t.attrs) > 0 { // without attributes it has no effect
		w.edits = w.edits[:before]
		w.edit(t.all, "")
	}
}

// isPolicy reports whether a meta has a Content-Security-Policy, which would block the page's
// own files on disk.
func (w *rewriter) isPolicy(t *tag) bool {
	for i := range t.attrs {
		if a := &t.attrs[i]; isName(w.src, a, "http-equiv") {
			v := strings.Trim(w.value(a), asciiBlank)
			return len(v) >= 23 && strings.EqualFold(v[:23], "content-security-policy")
		}
	}
	return false
}

// close inserts what was not inserted before.
func (w *rewriter) close() {
	if !w.xml && (w.front != "" || w.o.NoTranslate && !w.html) {
		// A page without tags.
		text := w.front
		if w.o.NoTranslate {
			text = `<html translate="no">` + text
		}
		at := textBefore(w.src, w.looked, len(w.src))
		w.edit(span{at, at}, text)
		w.apply()
	}
	w.spriteEnd(len(w.src))
	w.apply()
}

func (w *rewriter) endTag(t *tag) {
	if name := t.name.of(w.src); equalFold(name, "body") {
		w.spriteEnd(t.all.from)
	}
}

// whole returns the span of the attribute from its name to its end.
func (a *attr) whole() span {
	end := max(a.name.to, a.value.to)
	if a.quote != 0 {
		end++
	}
	if a.value.empty() && a.quote == 0 {
		end = a.name.to
	}
	return span{a.name.from, end}
}

// withBlank returns the span of the attribute and the white space before it.
func (w *rewriter) withBlank(a *attr) span {
	at := a.whole()
	for at.from > 0 && class[w.src[at.from-1]]&blank != 0 {
		at.from--
	}
	return at
}

func isName(src []byte, a *attr, name string) bool {
	return equalFold(a.name.of(src), name)
}

// value returns an attribute's value, decoded.
func (w *rewriter) value(a *attr) string {
	return string(w.r.decode(nil, a.value.of(w.src), true))
}

// encoderOf returns an encoder that writes unsupported characters as character references.
func encoderOf(code textCode) *encoding.Encoder {
	return encoding.HTMLEscapeUnsupported(code.enc.NewEncoder())
}
