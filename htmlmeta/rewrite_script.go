package htmlmeta

import (
	"bytes"
	"strings"
)

// script rewrites the references of a script element, and notes what browsers refuse for file:
// URLs.
func (w *rewriter) script(t *tag) {
	typ := w.named(t, "type")
	if strings.EqualFold(typ, "module") {
		w.need("module")
	}
	src := t.text.of(w.src)
	for _, n := range ScriptNeeds(src) {
		w.need(n)
	}
	switch script, isMap := scriptType(typ); {
	case w.xml || len(src) == 0:
	case script:
		w.scriptAt(t.text, true)
	case isMap:
		w.importMap(t.text)
	}
}

// scriptFile rewrites a JavaScript file.
func (w *rewriter) scriptFile(body []byte, code textCode) {
	w.src, w.code = body, code
	for _, n := range ScriptNeeds(body) {
		w.need(n)
	}
	w.scriptAt(span{0, len(body)}, false)
	w.apply()
}

// scriptAt rewrites the literals that are references by their syntax. Those relative to the
// page are rewritten only in pages, since a file may be used by several. Other literals stay.
func (w *rewriter) scriptAt(at span, inPage bool) {
	eachScriptRef(at.of(w.src), func(ref scriptRef) bool {
		if ref.use == asString || ref.use == asPage && !inPage {
			return true
		}
		if bare := ref.attr == "import" || ref.attr == "import()"; bare && !isSpecifier(ref.text) {
			return true
		}
		w.specifier(span{at.from + ref.at.from + 1, at.from + ref.at.to - 1}, ref.text,
			Link{Tag: "script", Attr: ref.attr, Kind: Requisite})
		return true
	})
}

// specifier rewrites a reference. Relative ones of imports must begin with a dot (HTML
// §8.1.6.2).
func (w *rewriter) specifier(at span, text string, l Link) {
	change, to := w.ref(text, l)
	switch change {
	case Leave:
		return
	case Silent:
		to = "data:text/javascript,/*" + strings.NewReplacer(`"`, "%22", "'", "%27", "`", "%60", `\`, "%5C", "<", "%3C",
			"*", "%2A").Replace(to) + "*/"
	case Local:
		if l.Attr != "importScripts" && strings.HasPrefix(l.Attr, "import") {
			to = withDot(to)
		}
	}
	if to != text {
		w.edit(at, to)
	}
}

func withDot(ref string) string {
	if strings.HasPrefix(ref, ".") || strings.HasPrefix(ref, "/") {
		return ref
	}
	return "./" + ref
}

// importMap rewrites the URLs of an import map, except those of directories.
func (w *rewriter) importMap(at span) {
	src := at.of(w.src)
	eachScriptRef(src, func(ref scriptRef) bool {
		rest := bytes.TrimLeft(src[ref.at.to:], asciiBlank)
		if key := len(rest) > 0 && rest[0] == ':'; !key && isSpecifier(ref.text) && !strings.HasSuffix(ref.text, "/") {
			w.specifier(span{at.from + ref.at.from + 1, at.from + ref.at.to - 1}, ref.text,
				Link{Tag: "script", Attr: "importmap", Kind: Requisite})
		}
		return true
	})
}

// ScriptNeeds lists features used by a script that browsers refuse for file: URLs. It searches
// for names, so it may report too many.
func ScriptNeeds(src []byte) []string {
	var needs []string
	for _, n := range []struct{ what, word string }{
		{"fetch", "fetch("}, {"XMLHttpRequest", "XMLHttpRequest"}, {"worker", "new Worker("},
		{"worker", "serviceWorker"}, {"module", "import("},
	} {
		if bytes.Contains(src, []byte(n.word)) {
			needs = append(needs, n.what)
		}
	}
	return needs
}
