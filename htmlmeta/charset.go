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

// textCode is a charset. enc is nil for UTF-8, which needs no decoding.
type textCode struct {
	name string // lower-case name of the Encoding Standard
	enc  encoding.Encoding
}

func (c textCode) known() bool { return c.name != "" }

// wide reports whether the body must be decoded before tags can be found: in UTF-16 an octet is
// not a character, and in ISO-2022-JP '<' may be half of one.
func (c textCode) wide() bool { return strings.HasPrefix(c.name, "utf-16") || c.name == "iso-2022-jp" }

var utf8Code = textCode{name: "utf-8"}

// codeOf looks up a label (Encoding Standard §4.2).
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

// codeByBOM returns the charset of a byte order mark, which takes precedence over everything
// else (HTML §13.2.3.1).
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

// codeByHeader returns the charset of the byte order mark or of the response header.
func codeByHeader(h http.Header, body []byte) textCode {
	if c := codeByBOM(body); c.known() {
		return c
	}
	return codeOf(charsetParam(h))
}

// codeByMeta returns the charset of a meta tag. UTF-16 means UTF-8 there, since the tag was
// read as ASCII (HTML §13.2.3.2).
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

// charsetIn extracts the label from "text/html; charset=koi8-r" (HTML §2.5.4, extracting a
// character encoding from a meta element).
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

// withoutCutRune removes an incomplete rune at the end of a truncated body.
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

// mostlyUTF8 reports whether a document is UTF-8 with few errors: at least 20 valid sequences
// for each invalid one.
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

// maxSample is the most octets examined to guess a charset.
const maxSample = 64 << 10

// sampleText returns the text of a page without its tags, which are ASCII and do not help to
// guess the charset.
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
