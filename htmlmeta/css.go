package htmlmeta

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// cssRef is a reference in a style sheet.
type cssRef struct {
	url      string // unescaped
	at       span   // with quotes
	imported bool   // by @import
}

// mayHoldURL reports whether CSS may contain references.
func mayHoldURL(src []byte) bool {
	return bytes.IndexByte(src, '(') >= 0 || bytes.IndexByte(src, '@') >= 0
}

// eachCSSRef calls f with each reference of a style sheet or of declarations until f returns
// false: url(), strings in image-set() and src(), and @import. It skips comments, other
// strings, and @namespace.
func eachCSSRef(src []byte, f func(cssRef) bool) {
	src = src[:len(src):len(src)] // the lexer writes a NUL after its input
	w := cssWalk{lex: css.NewLexer(parse.NewInputBytes(src))}
	for {
		ref, ok, more := w.next()
		if !more || ok && !f(ref) {
			return
		}
	}
}

// cssWalk tracks as much of CSS's grammar as tells which strings are URLs.
type cssWalk struct {
	lex   *css.Lexer
	at    int
	rule  string // the at-rule whose prelude is being read: "@import"
	depth int    // of parentheses
	sets  []int  // parenthesis depths of functions whose strings are URLs
}

// maxCSSDepth is the deepest nesting of functions whose strings are URLs.
const maxCSSDepth = 32

func (w *cssWalk) next() (ref cssRef, ok, more bool) {
	kind, data := w.lex.Next()
	if kind == css.ErrorToken {
		return ref, false, false
	}
	from := w.at
	w.at += len(data)
	switch kind {
	case css.AtKeywordToken:
		w.rule = strings.ToLower(unescapeCSS(string(data)))
	case css.SemicolonToken, css.LeftBraceToken, css.RightBraceToken:
		w.rule, w.depth, w.sets = "", 0, w.sets[:0]
	case css.FunctionToken:
		w.open(string(data[:len(data)-1]))
	case css.LeftParenthesisToken:
		w.depth++
	case css.RightParenthesisToken:
		w.shut()
	case css.URLToken:
		ref, ok = urlToken(data, from)
	case css.StringToken:
		if w.isURL() {
			ref, ok = cssRef{url: unquoteCSS(string(data)), at: span{from, w.at}}, true
		}
	}
	ref.imported = w.rule == "@import"
	if ref.imported && ok {
		w.rule = "@import." // the first string is the URL, the rest are conditions
	}
	return ref, ok && w.rule != "@namespace", true
}

// open handles the start of a function.
func (w *cssWalk) open(name string) {
	w.depth++
	switch strings.ToLower(unescapeCSS(name)) {
	case "image-set", "-webkit-image-set", "src", "url":
		if len(w.sets) < maxCSSDepth {
			w.sets = append(w.sets, w.depth)
		}
	}
}

func (w *cssWalk) shut() {
	if n := len(w.sets); n > 0 && w.sets[n-1] == w.depth {
		w.sets = w.sets[:n-1]
	}
	if w.depth > 0 {
		w.depth--
	}
}

// isURL reports whether a string at this position is a reference.
func (w *cssWalk) isURL() bool {
	if w.rule == "@import" && w.depth == 0 {
		return true
	}
	return len(w.sets) > 0 && w.sets[len(w.sets)-1] == w.depth
}

// urlToken parses url(). At the end of the document the closing parenthesis and quote may be
// missing.
func urlToken(data []byte, from int) (cssRef, bool) {
	open := bytes.IndexByte(data, '(') + 1
	end := len(data)
	if end > open && data[end-1] == ')' && !escapedAt(data, end-1) {
		end--
	}
	for open < end && class[data[open]]&blank != 0 {
		open++
	}
	for end > open && class[data[end-1]]&blank != 0 && !escapedAt(data, end-1) {
		end--
	}
	text := string(data[open:end])
	ref := cssRef{at: span{from + open, from + end}}
	if strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "'") {
		ref.url = unquoteCSS(text)
	} else {
		ref.url = unescapeCSS(text)
	}
	return ref, true
}

// escapedAt reports whether a backslash escapes the octet at i.
func escapedAt(b []byte, i int) bool {
	n := 0
	for i-n > 0 && b[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// unquoteCSS removes the quotes of a string and decodes its escapes.
func unquoteCSS(s string) string {
	if s == "" {
		return s
	}
	quote := s[:1]
	s = s[1:]
	if strings.HasSuffix(s, quote) && !escapedAt([]byte(s), len(s)-1) {
		s = s[:len(s)-1]
	}
	return unescapeCSS(s)
}

// unescapeCSS decodes escapes (CSS Syntax §4.3.7): \26 with up to six digits and one blank, \"
// and, in a string, a backslash before a newline.
func unescapeCSS(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, '\\') {
		b.WriteString(s[:i])
		s = s[i+1:]
		n := 0
		for n < 6 && n < len(s) && isHex(s[n]) {
			n++
		}
		switch {
		case n > 0:
			v, _ := strconv.ParseUint(s[:n], 16, 32) // at most six digits
			v = cmp.Or(v, 0xFFFD)
			b.WriteRune(rune(v))
			s = cutNewlineOr(s[n:], " \t")
		case s != "" && (s[0] == '\n' || s[0] == '\r' || s[0] == '\f'):
			s = cutNewlineOr(s, "")
		case s != "":
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
	b.WriteString(s)
	return b.String()
}

// cutNewlineOr removes one newline, or one octet of set, from the start of s.
func cutNewlineOr(s, set string) string {
	if strings.HasPrefix(s, "\r\n") {
		return s[2:]
	}
	if s != "" && strings.IndexByte(set+"\n\r\f", s[0]) >= 0 {
		return s[1:]
	}
	return s
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
