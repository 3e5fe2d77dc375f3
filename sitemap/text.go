package sitemap

import (
	"bufio"
	"strings"

	"curtsy/internal/weburl"
)

// maxTextLine is the longest line of a text sitemap that is read.
const maxTextLine = 16 << 10

// maxProse is the number of lines without a URL, before the first URL, after which a file is
// not taken for a text sitemap.
const maxProse = 100

// readLines reads a text sitemap: one absolute URL per line. A file counts as one from its
// first URL on; other lines are counted as bad.
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
		if err != nil || s.sum.Kind == None && bad > maxProse {
			break
		}
	}
	if s.sum.Kind == Text {
		s.sum.Bad += bad
	}
}

// textLine reads up to the next CR or LF; long lines are truncated.
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
		return false // prose that begins with a URL
	}
	_, err := weburl.Parse(s)
	return err == nil
}
