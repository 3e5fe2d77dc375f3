package htmlmeta

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"

	"curtsy/internal/charsets"
)

const (
	bomUTF8    = "\xEF\xBB\xBF"
	bomUTF16LE = "\xFF\xFE"
	bomUTF16BE = "\xFE\xFF"
)

// textCode is a charset. UTF-8 has no enc, since nothing is to be decoded.
type textCode struct {
	name string // as the Encoding Standard names it, in lower case
	enc  encoding.Encoding
}

func (c textCode) known() bool { return c.name != "" }

// wide says whether tags cannot be found before decoding: in UTF-16 an octet
// is no character, in ISO-2022-JP a '<' may be half of one.
func (c textCode) wide() bool { return strings.HasPrefix(c.name, "utf-16") || c.name == "iso-2022-jp" }

var utf8Code = textCode{name: "utf-8"}

// codeOf looks a label up as the Encoding Standard §4.2 does.
func codeOf(label string) textCode {
	enc, name := charsets.Lookup(label)
	switch {
	case enc == nil:
		return textCode{}
	case name == "utf-8":
		return utf8Code
	}
	return textCode{name, enc}
}

// codeByBOM: a byte order mark wins over everything (HTML §13.2.3.1).
func codeByBOM(body []byte) textCode {
	switch {
	case bytes.HasPrefix(body, []byte(bomUTF8)):
		return utf8Code
	case bytes.HasPrefix(body, []byte(bomUTF16LE)):
		return codeOf("utf-16le")
	case bytes.HasPrefix(body, []byte(bomUTF16BE)):
		return codeOf("utf-16be")
	}
	return textCode{}
}

// codeByHeader is what the mark or the response header says.
func codeByHeader(h http.Header, body []byte) textCode {
	if c := codeByBOM(body); c.known() {
		return c
	}
	return codeOf(charsetParam(h))
}

// codeByMeta is what a meta tag says: it was found octet by octet, so it
// cannot be UTF-16 (HTML §13.2.3.2).
func codeByMeta(label string) textCode {
	c := codeOf(label)
	switch {
	case strings.HasPrefix(c.name, "utf-16"):
		return utf8Code
	case c.name == "x-user-defined":
		return codeOf("windows-1252")
	}
	return c
}

// charsetIn finds the label in "text/html; charset=koi8-r" (HTML §2.5.4,
// extracting a character encoding from a meta element).
func charsetIn(s string) string {
	for {
		i := indexFold(s, "charset")
		if i < 0 {
			return ""
		}
		s = strings.TrimLeft(s[i+len("charset"):], asciiBlank)
		if !strings.HasPrefix(s, "=") {
			continue
		}
		s = strings.TrimLeft(s[1:], asciiBlank)
		if s != "" && (s[0] == '"' || s[0] == '\'') {
			label, _, closed := strings.Cut(s[1:], s[:1])
			if !closed {
				return ""
			}
			return label
		}
		if i := strings.IndexAny(s, asciiBlank+";"); i >= 0 {
			s = s[:i]
		}
		return s
	}
}

// indexFold finds sub, in lower case, in s in any case.
func indexFold(s, sub string) int {
	for i := 0; i+len(sub) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(sub)], sub) {
			return i
		}
	}
	return -1
}

// detect guesses the charset of a document that declares none.
func detect(body []byte) textCode {
	if utf8.Valid(withoutCutRune(body)) || mostlyUTF8(body) {
		return utf8Code
	}
	text := sampleText(body)
	if c, ok := detectCyrillic(text); ok {
		return c
	}
	if c := codeOf(chardet.Detect(text).Encoding); c.known() {
		return c
	}
	return codeOf("windows-1252")
}

// withoutCutRune drops a rune that the end of a cut-off body has cut.
func withoutCutRune(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// mostlyUTF8 says whether a document is UTF-8 with a few octets broken: 20
// good sequences for each bad one.
func mostlyUTF8(b []byte) bool {
	b = b[:min(len(b), maxSample)]
	good, bad := 0, 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good++
		}
		i += n
	}
	return good > 20*bad
}

// maxSample bounds how many octets are looked at to guess a charset.
const maxSample = 64 << 10

// sampleText takes the text of a page without its tags, which are ASCII and
// say nothing about its charset.
func sampleText(b []byte) []byte {
	out := make([]byte, 0, min(len(b), maxSample))
	EachText(b, func(text []byte) {
		out = append(out, text[:min(len(text), maxSample-len(out))]...)
		if len(out) < maxSample {
			out = append(out, ' ')
		}
	})
	return out
}
