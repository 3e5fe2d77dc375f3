package rules

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// maxLine is how many octets of a line are read, as in Google's parser.
const maxLine = 16663

// text iterates over the lines of a robots.txt. Beyond maxBytes it is truncated at a line end.
type text struct {
	rest    string
	line    int    // number of the line last returned
	cut     bool   // the file is longer than maxBytes
	charset string // the encoding, if not UTF-8 or ASCII
	wasCR   bool   // the last line ended in CR: a following LF belongs to it
}

func newText(body []byte) *text {
	t := &text{}
	if len(body) > maxBytes {
		t.cut = true
		end := bytes.LastIndexAny(body[:maxBytes+1], "\r\n")
		body = body[:end+1] // the last line end may be the octet after the limit
	}
	t.rest, t.charset = decode(body)
	return t
}

// next returns the next line without its end, truncated to maxLine octets.
func (t *text) next() (line string, long, ok bool) {
	if t.wasCR && strings.HasPrefix(t.rest, "\n") {
		t.rest = t.rest[1:]
	}
	t.wasCR = false
	if t.rest == "" {
		return "", false, false
	}
	t.line++
	end := strings.IndexAny(t.rest, "\r\n")
	if end < 0 {
		line, t.rest = t.rest, ""
	} else {
		t.wasCR = t.rest[end] == '\r'
		line, t.rest = t.rest[:end], t.rest[end+1:]
	}
	if len(line) > maxLine {
		return line[:maxLine], true, true
	}
	return line, false, true
}

// wide is an encoding with code units of two or four octets.
type wide struct {
	name, mark string
	size       int // octets of a code unit
	encoding.Encoding
}

var wides = []wide{
	{"UTF-32LE", "\xff\xfe\x00\x00", 4, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"UTF-32BE", "\x00\x00\xfe\xff", 4, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"UTF-16LE", "\xff\xfe", 2, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"UTF-16BE", "\xfe\xff", 2, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
}

// decode removes byte order marks, even truncated ones, and converts UTF-16 and UTF-32, recognized by a mark
// or by NULs, to UTF-8. A file marked as UTF-16 without any line or field in that encoding is taken as
// it is. Invalid UTF-8 is not changed: rules are octets.
func decode(body []byte) (s, charset string) {
	body = withoutMarks(body)
	for _, w := range wides {
		text, marked := bytes.CutPrefix(body, []byte(w.mark))
		switch {
		case (marked || w.begins(text)) && w.written(text):
			return w.decode(text), w.name
		case marked && w.size == 2:
			body, charset = text, "marked as "+w.name+" and is not"
		}
	}
	return string(withoutMarks(body)), charset
}

// withoutMarks removes UTF-8 byte order marks, and the rest of a truncated one.
func withoutMarks(body []byte) []byte {
	const mark = "\xef\xbb\xbf"
	for bytes.HasPrefix(body, []byte(mark)) {
		body = body[len(mark):]
	}
	for n := len(mark) - 1; n > 0; n-- {
		if rest, ok := bytes.CutPrefix(body, []byte(mark[:n])); ok {
			return rest
		}
	}
	return body
}

// begins reports whether the first two code units are ASCII.
func (w wide) begins(b []byte) bool {
	if len(b) < 2*w.size {
		return false
	}
	for _, r := range w.decode(b[:2*w.size]) {
		if r == 0 || r >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// written reports whether the text contains a line end, a colon or a comment; without these the file is not
// in this encoding.
func (w wide) written(b []byte) bool { return strings.ContainsAny(w.decode(b), "\n\r:#") }

// decode decodes complete code units.
func (w wide) decode(b []byte) string {
	text, _ := w.NewDecoder().Bytes(b[:len(b)-len(b)%w.size]) // invalid sequences become U+FFFD
	return strings.TrimLeft(string(text), "\ufeff")
}

// binary reports whether a file is not text: it has a NUL near its beginning.
func binary(body []byte) bool {
	text, _ := decode(body[:min(len(body), 1024)])
	return strings.IndexByte(text[:min(len(text), 64)], 0) >= 0
}

// blanks may surround a field and a value; they include NUL.
const blanks = " \t\v\f\x00"

func trimBlanks(s string) string { return strings.Trim(s, blanks) }

// uncomment removes a comment from a line, and what follows a NUL.
func uncomment(line string) string {
	line, _, _ = strings.Cut(line, "#")
	line, _, _ = strings.Cut(trimBlanks(line), "\x00")
	return trimBlanks(line)
}
