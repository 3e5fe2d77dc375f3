package sitemap

import (
	"bufio"
	"io"
	"strings"

	"curtsy/internal/weburl"
)

// maxTextLine is how long a line of a text sitemap may be to be looked at.
const maxTextLine = 16 << 10

// maxProse is how many lines without an URL, before the first with one, make
// a file no text sitemap.
const maxProse = 100

// readLines reads a text sitemap: one absolute URL a line. A file is one
// from its first URL on; lines that are none are counted as bad.
func (s *reader) readLines(in *bufio.Reader) {
	bad := 0
	for {
		line, long, err := textLine(in)
		line = trimLoc(line)
		switch {
		case line == "":
		case long || !isAbsolute(line):
			bad++
		default:
			s.sum.Kind = Text
			if !s.add(Entry{Loc: line, Priority: -1}, false) {
				return
			}
		}
		if err == io.EOF || err != nil || s.sum.Kind == None && bad > maxProse {
			break
		}
	}
	if s.sum.Kind == Text {
		s.sum.Bad += bad
	}
}

// textLine reads to the next CR or LF; of a long line only the start is kept.
func textLine(in *bufio.Reader) (line string, long bool, err error) {
	var b strings.Builder
	for {
		c, err := in.ReadByte()
		if err != nil || c == '\n' || c == '\r' {
			return b.String(), long, err
		}
		if b.Len() < maxTextLine {
			b.WriteByte(c)
			continue
		}
		long = true
	}
}

func isAbsolute(s string) bool {
	if len(s) < len("http://h") || !strings.EqualFold(s[:4], "http") {
		return false
	}
	if strings.ContainsAny(s, " \t<>\"") {
		return false // prose that begins with an URL
	}
	_, err := weburl.Parse(s)
	return err == nil
}
