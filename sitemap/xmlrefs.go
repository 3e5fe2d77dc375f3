package sitemap

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape replaces, in place, the five predefined entity references of XML and numeric
// references. Any other '&' is kept; named reports whether one begins a reference to an entity
// that a DTD may declare.
func unescape(b []byte) (text []byte, named bool) {
	if bytes.IndexByte(b, '&') < 0 {
		return b, false
	}
	out := b[:0]
	for i := 0; i < len(b); {
		r, n := reference(b[i:])
		if n == 0 {
			named = named || entity(b[i:])
			out = append(out, b[i])
			i++
			continue
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	return out, named
}

// entity reports whether b begins with &name; of any length (XML §4.1).
func entity(b []byte) bool {
	name, _, ended := bytes.Cut(b[1:], []byte(";"))
	return b[0] == '&' && ended && len(name) > 0 && !bytes.ContainsAny(name, "&#=?/%+ \t\r\n")
}

// predefined are the entities that need no declaration (XML §4.6).
var predefined = map[string]rune{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// reference decodes a reference at the start of b; n is its length, 0 if there is none.
func reference(b []byte) (r rune, n int) {
	if b[0] != '&' {
		return 0, 0
	}
	end := bytes.IndexByte(b[:min(len(b), 12)], ';')
	if end < 2 {
		return 0, 0
	}
	name := string(b[1:end])
	if r, ok := predefined[name]; ok {
		return r, end + 1
	}
	if name[0] != '#' {
		return 0, 0
	}
	base, digits := 10, name[1:]
	if hex := strings.TrimLeft(digits, "xX"); len(hex) == len(digits)-1 {
		base, digits = 16, hex
	}
	// A reference is never shorter than its character in UTF-8, so that unescape can write in
	// place: &#1; has four octets, &#x10FFFF; ten.
	v, err := strconv.ParseUint(digits, base, 21)
	if err != nil || !utf8.ValidRune(rune(v)) || v == 0 {
		return 0, 0
	}
	return rune(v), end + 1
}
