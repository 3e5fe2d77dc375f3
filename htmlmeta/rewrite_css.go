package htmlmeta

import (
	"bytes"
	"strings"
)

// sheet rewrites a style sheet file.
func (w *rewriter) sheet(body []byte, code textCode) {
	own := codeByMeta(cssCharset(body))
	if !code.known() {
		code = own
	}
	if !code.known() {
		code = utf8Code
	}
	w.src, w.code = body, code
	if w.byHeader.known() && !isASCIIBytes(body) && !codeByBOM(body).known() && own.name != w.byHeader.name {
		w.edit(span{0, 0}, `@charset "`+w.byHeader.name+`";`)
		w.apply()
	}
	w.cssAt(span{0, len(body)}, Link{Tag: "css", Kind: Requisite})
	w.apply()
}

// styleText rewrites the content of a style element.
func (w *rewriter) styleText(t *tag) {
	if !t.text.empty() {
		w.cssAt(t.text, Link{Tag: "style", Kind: Requisite})
	}
}

// cssAt rewrites a part of the source that is CSS. In UTF-8 and ASCII, references are replaced
// in place. Text in other charsets is decoded and encoded again or, if that would change other
// octets, treated as octets.
func (w *rewriter) cssAt(at span, l Link) {
	raw := at.of(w.src)
	if !mayHoldURL(raw) {
		return
	}
	if w.code.enc != nil && !w.code.wide() && !isASCIIBytes(raw) {
		text := w.r.toUTF8(raw)
		if back, err := encoderOf(w.code).Bytes(text); err == nil && bytes.Equal(back, raw) {
			if to, ok := w.css(text, l); ok {
				w.edit(at, w.encode(string(to)))
			}
			return
		}
	}
	w.eachCSSEdit(raw, l, func(e edit) {
		w.edit(span{at.from + e.at.from, at.from + e.at.to}, e.text)
	})
}

// css rewrites decoded CSS; ok is false if nothing changes.
func (w *rewriter) css(src []byte, l Link) (out []byte, ok bool) {
	if !mayHoldURL(src) {
		return nil, false
	}
	last := 0
	w.eachCSSEdit(src, l, func(e edit) {
		out = append(append(out, src[last:e.at.from]...), e.text...)
		last, ok = e.at.to, true
	})
	return append(out, src[last:]...), ok
}

// eachCSSEdit calls f with the edits of a piece of CSS.
func (w *rewriter) eachCSSEdit(src []byte, l Link, f func(edit)) {
	named := l.Attr != ""
	eachCSSRef(src, func(ref cssRef) bool {
		if !named {
			l.Attr = "url()"
			if ref.imported {
				l.Attr = "@import"
			}
		}
		change, to := w.ref(ref.url, l)
		if change == Silent {
			to = silentCSS(to, ref.imported)
		}
		if change != Leave && to != ref.url {
			quote := cssQuote(src, ref.at)
			f(edit{ref.at, quote + to + quote})
		}
		return true
	})
}

// cssQuote returns the quote of a reference, or "".
func cssQuote(src []byte, at span) string {
	if !at.empty() && (src[at.from] == '"' || src[at.from] == '\'') {
		return string(src[at.from])
	}
	return ""
}

// silentCSS returns an empty data: URL that still shows the original URL.
func silentCSS(url string, imported bool) string {
	if imported {
		return "data:text/css,"
	}
	return "data:,live%20" + strings.NewReplacer("(", "%28", ")", "%29", "'", "%27", `"`, "%22", " ",
		"%20").Replace(url)
}
