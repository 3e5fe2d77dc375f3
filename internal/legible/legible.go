// Package legible makes untrusted text safe to display. Control characters move cursors and
// color terminals; bidirectional controls reverse the text around them (Unicode TR 36 §2.10).
// It shows both by their code points.
package legible

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character is a control, except line feed and tab, or a bidirectional
// control: U+007F to U+009F, U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
func Hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
}

// Text shows hidden characters as ‹U+202E›.
func Text(s string) string { return Marked(s, Hidden) }

// Marked shows the characters for which hidden returns true as ‹U+202E›.
func Marked(s string, hidden func(rune) bool) string {
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, "‹%U›", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// JSON escapes hidden characters that encoding/json leaves in JSON (RFC 8259 §7). The value
// stays the same.
func JSON(b []byte) []byte {
	hidden := func(r rune) bool { return r >= 0x7f && Hidden(r) }
	if bytes.IndexFunc(b, hidden) < 0 {
		return b
	}
	res := make([]byte, 0, len(b)+len(b)/8)
	for at := 0; at < len(b); {
		r, n := utf8.DecodeRune(b[at:])
		if hidden(r) {
			res = fmt.Appendf(res, `\u%04x`, r)
		} else {
			res = append(res, b[at:at+n]...)
		}
		at += n
	}
	return res
}

// Writer applies Text to what is written. Each Write must consist of complete characters, as
// those of templates do.
type Writer struct{ W io.Writer }

func (w Writer) Write(b []byte) (int, error) {
	if bytes.IndexFunc(b, Hidden) < 0 {
		return w.W.Write(b)
	}
	if _, err := io.WriteString(w.W, Text(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Count formats a number of things: "1 file", "2 files".
func Count[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Bytes formats a number of bytes in decimal units: "1.2 MB".
func Bytes(n int64) string {
	f, unit := float64(n), -1
	for f >= 1000 && unit < len("kMGTPE")-1 {
		f, unit = f/1000, unit+1
	}
	if unit < 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %cB", f, "kMGTPE"[unit])
}

// Cut returns s, or, if it is longer than n characters, its beginning and "…", n characters in all.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return strings.TrimRightFunc(string(r[:n-1]), unicode.IsSpace) + "…"
	}
	return s
}

// First returns at most the first n octets of s, up to the end of a character.
func First(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
