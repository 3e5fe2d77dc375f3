package htmlmeta

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// appendUnescaped appends an attribute value with its character references decoded (HTML
// §13.2.5.72 and following). A name without semicolon counts only if neither '=' nor a letter
// or digit follows, so that "?a=1&copy=2" is unchanged.
func appendUnescaped(dst []byte, s string) []byte {
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		s = s[i:]
		n := referenceLength(s)
		dst = appendReference(dst, s[:n], s[n:])
		s = s[n:]
	}
}

// referenceLength returns the length of a possible character reference at the start of s, with
// its semicolon.
func referenceLength(s string) int {
	n := 1
	if n < len(s) && s[n] == '#' {
		n++
	}
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	if s[1:n] != "" && n < len(s) && s[n] == ';' {
		n++
	}
	return n
}

// longestReference exceeds the length of the longest name in bytes.
const longestReference = 64

func appendReference(dst []byte, ref, after string) []byte {
	switch {
	case ref == "&amp;":
		return append(dst, '&')
	case isNumeric(ref):
		return append(dst, html.UnescapeString(ref)...)
	case len(ref) < 3, len(ref) > longestReference, ref[1] == '#':
		return append(dst, ref...)
	}
	got := html.UnescapeString(ref)
	if strings.HasSuffix(ref, ";") {
		if got == ref || strings.HasSuffix(got, ";") && ref != "&semi;" {
			return append(dst, ref...) // only a prefix is a name
		}
		return append(dst, got...)
	}
	if strings.HasPrefix(after, "=") || utf8.RuneCountInString(got) != 1 {
		return append(dst, ref...)
	}
	return append(dst, got...)
}

// isNumeric reports whether ref is like &#65 or &#x41, with at least one digit.
func isNumeric(ref string) bool {
	if len(ref) < 3 || ref[1] != '#' {
		return false
	}
	return isDigit(ref[2]) || len(ref) > 3 && ref[2]|0x20 == 'x' && isHex(ref[3])
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
