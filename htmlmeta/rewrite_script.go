package htmlmeta

import (
	"bytes"
	"strings"
)

// script notes what a browser refuses on a file: URL.
func (w *rewriter) script(t *tag) {
	if strings.EqualFold(w.named(t, "type"), "module") {
		w.need("module")
	}
	for _, n := range ScriptNeeds(t.text.of(w.src)) {
		w.need(n)
	}
}

// ScriptNeeds says what of a script browsers refuse on a file: URL. It looks
// for names, so it may say too much.
func ScriptNeeds(src []byte) []string {
	var needs []string
	for _, n := range []struct{ what, word string }{
		{"fetch", "fetch("}, {"XMLHttpRequest", "XMLHttpRequest"}, {"worker", "new Worker("}, {"worker", "serviceWorker"}, {"module", "import("},
	} {
		if bytes.Contains(src, []byte(n.word)) {
			needs = append(needs, n.what)
		}
	}
	return needs
}
