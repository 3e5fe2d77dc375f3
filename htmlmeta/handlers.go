package htmlmeta

import (
	"regexp"
	"strings"
)

// leads matches navigation in the code of a handler: location.href = 'x', location.assign('x'),
// window.open('x').
var leads = regexp.MustCompile(`(?:location(?:\.href)?\s*=|location\.(?:assign|replace)\s*\(|\bopen\s*\()\s*` +
	`(?:'([^'\\<]+)'|"([^"\\<]+)")`)

// eachLead returns the positions of the URLs that the code navigates to.
func eachLead(code string) (list []span) {
	for _, m := range leads.FindAllStringSubmatchIndex(code, -1) {
		if m[2] < 0 {
			m[2], m[3] = m[4], m[5]
		}
		list = append(list, span{m[2], m[3]})
	}
	return list
}

// written matches references in markup that scripts write: document.write('<a href="x">').
var written = regexp.MustCompile(`(?i)<(?:a|area|img|frame|iframe|script|link)\s[^<>]*?(?:href|src)\s*=\s*` +
	`(?:"([^"<>{}$+\s]+)"|'([^'<>{}$+\s]+)')`)

// addWritten adds the references of a literal that contains markup.
func (s *linkSet) addWritten(text string, l Link) {
	if i := strings.IndexAny(text, "\"'"); i > 0 { // '<img src="' + base + 'x.png" alt="">'
		s.speculate(text[:i], l)
	}
	if !strings.Contains(text, "<") {
		return
	}
	l.Kind = Speculative
	for _, m := range written.FindAllStringSubmatch(text, -1) {
		ref := m[1] + m[2]
		if via := s.opts.LoadedBy; !s.inPage && !via.IsZero() {
			if u, err := via.Resolve(ref); err == nil {
				s.addURL(u, l)
			}
			continue
		}
		s.add(ref, l)
	}
}

// isBackground reports whether a data-bg attribute and the like is a URL.
func isBackground(v string) bool { return !strings.Contains(v, "(") && isCandidate(v) }

// isChoice reports whether the value of an option is a URL, as in a navigation menu.
func isChoice(v string) bool {
	bare, _, _ := strings.Cut(v, "?")
	return (isSpecifier(v) && len(v) > 1 || strings.HasSuffix(bare, ".html") || strings.HasSuffix(bare, ".htm")) &&
		!strings.ContainsAny(v, " <>{}")
}

// addCode adds the references that scripts make of an attribute.
func (s *linkSet) addCode(f form, v string, l Link) {
	l.Kind = Speculative
	switch {
	case f == background && strings.Contains(v, "url("):
		s.addCSS([]byte(v), l)
	case f == background && isBackground(v), f == choice && isChoice(v):
		s.add(v, l)
	case f == handler:
		for _, at := range eachLead(v) {
			s.add(v[at.from:at.to], l)
		}
	}
}

// attributeCode rewrites such an attribute, if its target is local.
func (w *rewriter) attributeCode(a *attr, f form, text string, l Link) {
	l.Kind = Speculative
	local := func(ref string) string {
		if change, to := w.ref(ref, l); change == Local {
			return to
		}
		return ref
	}
	to := text
	switch {
	case f == background && isBackground(text), f == choice && isChoice(text):
		to = local(text)
	case f == handler:
		list := eachLead(text)
		for i := len(list) - 1; i >= 0; i-- {
			to = to[:list[i].from] + local(to[list[i].from:list[i].to]) + to[list[i].to:]
		}
	}
	if to != text {
		w.put(a, to)
	}
}

// noframes matches the content for browsers without frames.
var noframes = regexp.MustCompile(`(?is)<noframes[^>]*>(.*?)</noframes`)

// hasJavaScript reports whether a reference is a javascript: URL.
func hasJavaScript(ref string) bool {
	return hasPrefixFold(strings.TrimLeft(ref, asciiBlank), "javascript:")
}
