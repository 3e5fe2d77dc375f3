package htmlmeta

import (
	"strings"
)

// candidates rewrites a srcset. It removes candidates that must not be loaded, and disables the
// attribute if none is left.
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

// inner rewrites a srcdoc document.
func (w *rewriter) inner(a *attr, text string) {
	if w.r.inner >= maxInner || text == "" {
		return
	}
	r := readers.Get().(*reader)
	defer r.free()
	r.inner = w.r.inner + 1
	r.links.base = w.r.links.base // HTML §4.2.3: srcdoc inherits the base
	in := &rewriter{r: r, o: w.o}
	in.o.NoTranslate, in.o.Room = false, nil
	in.hasBase = w.hasBase
	in.page([]byte(text), utf8Code, false)
	for _, n := range in.needs {
		w.need(n)
	}
	if in.changed {
		w.put(a, string(in.finish()))
	}
}

// refresh rewrites the URL in a meta refresh. It disables one that must not be loaded.
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
	// In the simplest syntax, since not every parser knows the others.
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

// archives rewrites an applet's files. They are relative to its codebase, which is removed.
func (w *rewriter) archives(t *tag, a *attr, text string, l Link) {
	base := w.r.links.base
	defer func() { w.r.links.base = base }()
	if code := w.named(t, "codebase"); code != "" {
		if u, err := base.Resolve(strings.TrimSuffix(code, "/") + "/"); err == nil {
			w.r.links.base = u
		}
	}
	var files, silent []string
	for f := range strings.SplitSeq(text, ",") {
		switch change, to := w.ref(f, l); change {
		case Silent:
			silent = append(silent, to)
		case Leave:
			files = append(files, f)
		default:
			files = append(files, to)
		}
	}
	switch to := strings.Join(files, ","); {
	case len(files) == 0:
		w.silence(a, strings.Join(silent, ","))
	case to != text:
		w.put(a, to)
	}
}
