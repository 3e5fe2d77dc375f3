package rules

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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

// decode takes off a byte order mark, also a cut one, and makes UTF-8 of
// UTF-16 with a mark or with the NULs that betray it. Octets that are no
// UTF-8 stay as they are: rules are octets.
func decode(body []byte) (s, charset string) {
	switch {
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return fromUTF16(body[2:], 0), "UTF-16LE"
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return fromUTF16(body[2:], 1), "UTF-16BE"
	case len(body) >= 4 && body[0] != 0 && body[1] == 0 && body[2] != 0 && body[3] == 0:
		return fromUTF16(body, 0), "UTF-16LE"
	case len(body) >= 4 && body[0] == 0 && body[1] != 0 && body[2] == 0 && body[3] != 0:
		return fromUTF16(body, 1), "UTF-16BE"
	}
	for _, c := range []byte("\xef\xbb\xbf") {
		if len(body) == 0 || body[0] != c {
			break
		}
		body = body[1:]
	}
	return string(body), ""
}

// fromUTF16 decodes UTF-16 whose lower octet stands at index low of a pair.
func fromUTF16(b []byte, low int) string {
	out := make([]byte, 0, len(b)/2)
	unit := func(i int) rune { return rune(b[i+low]) | rune(b[i+1-low])<<8 }
	for i := 0; i+1 < len(b); i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) && i+3 < len(b) {
			if pair := utf16.DecodeRune(r, unit(i+2)); pair != utf8.RuneError {
				r, i = pair, i+2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// binary says whether a file is plainly no text.
func binary(body []byte) bool {
	_, charset := decode(body[:min(len(body), 64)])
	return charset == "" && bytes.IndexByte(body, 0) >= 0
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
