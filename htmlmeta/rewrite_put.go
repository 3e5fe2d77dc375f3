package htmlmeta

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

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

// putRaw replaces an attribute's value by text that is already escaped for double quotes.
func (w *rewriter) putRaw(a *attr, text string) {
	at := a.value
	if a.quote != 0 {
		at = span{at.from - 1, at.to + 1}
	}
	w.edit(at, `"`+text+`"`)
}

// encode encodes text in the page's charset.
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

// escapeAttr escapes a value for the given quotes, in HTML and XML.
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

// putRef replaces an attribute's value by a reference.
func (w *rewriter) putRef(a *attr, to string, local bool) {
	if local && w.numeric && strings.IndexByte(to, '%') >= 0 {
		w.putRaw(a, numeric(escapeAttr(to, '"')))
		return
	}
	w.put(a, to)
}

// numeric writes percent-encoded non-ASCII letters as character references. Browsers treat both
// alike, but some readers interpret percent-encoding in the page's charset instead of UTF-8.
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

// percentRun decodes the percent-encoded non-ASCII octets at the start of s.
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
