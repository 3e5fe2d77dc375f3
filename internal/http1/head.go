// Package http1 parses HTTP/1 responses: it parses heads and frames bodies as leniently as
// browsers. Fetching and reading archives use the same parser, so that a response is read back
// as it was understood.
package http1

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

const (
	maxFields    = 10_000   // lines parsed of a head
	maxChunkLine = 4 << 10  // a chunk's size line with extensions
	maxTrailer   = 64 << 10 // the fields after the last chunk
)

// ErrFields means that a head has too many lines.
var ErrFields = errors.New("more than 10000 header lines")

// HeadEnd finds the end of the head that begins at buf[start:], examining only lines that end
// after from. It returns the index after the blank line, or -1 and where to continue. Lines end
// in LF, with or without CR (RFC 9112 §2.2).
func HeadEnd(buf []byte, start, from int) (end, next int) {
	for {
		i := bytes.IndexByte(buf[from:], '\n')
		if i < 0 {
			return -1, len(buf)
		}
		lf := from + i
		line := lf - 1
		if line >= start && buf[line] == '\r' {
			line--
		}
		if line < start || buf[line] == '\n' {
			return lf + 1, lf + 1
		}
		from = lf + 1
	}
}

// ParseHead parses a head. It skips invalid field lines, as browsers do, and replaces NUL and
// bare CR by blanks (RFC 9110 §5.5). Anything without an HTTP/1 status line is an error:
// HTTP/0.9, garbage, HTTP/2.
func ParseHead(head []byte) (proto string, status int, h http.Header, err error) {
	s := string(head)
	line, rest := cutLine(s)
	proto, status, err = ParseStatus(line)
	if err != nil {
		return "", 0, nil, err
	}
	h, err = parseFields(rest)
	return proto, status, h, err
}

// ParseStatus parses "HTTP/1.1 200 OK" (RFC 9112 §4).
func ParseStatus(line string) (proto string, status int, err error) {
	proto, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimLeft(rest, " ")
	code, _, _ := strings.Cut(rest, " ")
	minor, isHTTP1 := strings.CutPrefix(proto, "HTTP/1.")
	status, err = strconv.Atoi(code)
	if !isHTTP1 || len(minor) != 1 || minor < "0" || minor > "9" || len(code) != 3 || err != nil || status < 100 {
		return "", 0, fmt.Errorf("not an HTTP/1 status line: %.40q", line)
	}
	return proto, status, nil
}

// parseFields parses field lines up to the blank line (RFC 9112 §5).
func parseFields(s string) (http.Header, error) {
	n := strings.Count(s, "\n")
	if n > maxFields {
		return nil, ErrFields
	}
	h := make(http.Header, min(n, 64))
	values := make([]string, 0, n)
	for s != "" {
		var line string
		line, s = cutLine(s)
		folded := folds(s)
		name, value, ok := strings.Cut(line, ":")
		name = trimBlanks(name)
		if folded {
			value, s = unfold(value, s)
		}
		if !ok || !httpguts.ValidHeaderFieldName(name) {
			continue
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		values = append(values, cleanValue(value))
		if old, ok := h[name]; ok {
			h[name] = append(old, values[len(values)-1])
			continue
		}
		h[name] = values[len(values)-1 : len(values) : len(values)]
	}
	return h, nil
}

// cutLine splits s at its first line end, which it drops.
func cutLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// folds reports whether s continues the previous line (RFC 9112 §5.2).
func folds(s string) bool { return s != "" && (s[0] == ' ' || s[0] == '\t') }

// unfold joins a value with its continuation lines.
func unfold(value, s string) (string, string) {
	var b strings.Builder
	b.WriteString(value)
	for folds(s) {
		var line string
		line, s = cutLine(s)
		b.WriteByte(' ')
		b.WriteString(trimBlanks(line))
	}
	return b.String(), s
}

// cleanValue trims a field value and replaces NUL and CR by blanks.
func cleanValue(v string) string {
	v = trimBlanks(v)
	if strings.IndexByte(v, 0) >= 0 || strings.IndexByte(v, '\r') >= 0 {
		v = trimBlanks(strings.NewReplacer("\x00", " ", "\r", " ").Replace(v))
	}
	return v
}

// trimBlanks trims blanks and tabs.
func trimBlanks(s string) string { return strings.Trim(s, " \t") }
