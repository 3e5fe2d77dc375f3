package rules

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// maxLine is how many octets of a line are read (what Google's parser reads).
const maxLine = 16663

// text is a robots.txt as lines are taken from it: what follows maxBytes is
// gone, with the line that the cut goes through.
type text struct {
	rest    string
	line    int    // number of the line last returned
	cut     bool   // the file was longer than maxBytes
	charset string // what the octets were, if not UTF-8 or ASCII
	wasCR   bool   // the last line ended in CR: an LF that follows is its end too
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

// next returns the next line without its end, at most maxLine octets of it.
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

// wide is an encoding of two or four octets a unit.
type wide struct {
	name, mark string
	size       int // octets of a unit
	encoding.Encoding
}

var wides = []wide{
	{"UTF-32LE", "\xff\xfe\x00\x00", 4, utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"UTF-32BE", "\x00\x00\xfe\xff", 4, utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"UTF-16LE", "\xff\xfe", 2, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"UTF-16BE", "\xfe\xff", 2, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
}

// decode takes off byte order marks, also a cut one, and makes UTF-8 of UTF-16
// and UTF-32 with a mark or with the NULs that betray them. A mark alone is not
// believed: what is marked as UTF-16 and has no line or field in it is read as
// the octets it is. Octets that are no UTF-8 stay as they are: rules are octets.
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

// withoutMarks takes off UTF-8's byte order marks, and what is left of one that was cut.
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

// begins says whether the first two units are of ASCII.
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

// written says whether a line ends, a field or a comment begins: without that
// the file says nothing in this encoding.
func (w wide) written(b []byte) bool { return strings.ContainsAny(w.decode(b), "\n\r:#") }

// decode is the text of whole units.
func (w wide) decode(b []byte) string {
	text, _ := w.NewDecoder().Bytes(b[:len(b)-len(b)%w.size]) // of what is no character it makes U+FFFD
	return strings.TrimLeft(string(text), "\ufeff")
}

// binary says whether a file is plainly no text.
func binary(body []byte) bool {
	text, _ := decode(body[:min(len(body), 1024)])
	return strings.IndexByte(text[:min(len(text), 64)], 0) >= 0
}

// blanks are what rounds a field and a value; a NUL at an end is one of them.
const blanks = " \t\v\f\x00"

func trimBlanks(s string) string { return strings.Trim(s, blanks) }

// uncomment cuts a comment off a line, and what follows an octet NUL in it.
func uncomment(line string) string {
	if i := strings.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	line = trimBlanks(line)
	if i := strings.IndexByte(line, 0); i >= 0 {
		line = trimBlanks(line[:i])
	}
	return line
}
