package htmlmeta

import "strings"

// headerLink is a link of a Link header (RFC 8288 §3).
type headerLink struct {
	target, rel, as string
	mediaType       string
	anchored        bool // it has an anchor, so it is about another resource
}

// maxHeaderLinks is the most links read of a header line.
const maxHeaderLinks = 1000

// eachHeaderLink calls f with each link of a Link header line. It is lenient, as in RFC 8288
// appendix B.3: invalid parts are skipped.
func eachHeaderLink(s string, f func(headerLink)) {
	for range maxHeaderLinks {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			return
		}
		s = s[open+1:]
		shut := strings.IndexByte(s, '>')
		if shut < 0 {
			return
		}
		l := headerLink{target: s[:shut]}
		s = l.params(s[shut+1:])
		f(l)
	}
}

// params parses the parameters of a link up to the comma that ends it, and returns the rest.
// The first rel counts.
func (l *headerLink) params(s string) string {
	hasRel := false
	for {
		s = strings.TrimLeft(s, asciiBlank)
		if s == "" || s[0] == ',' {
			return strings.TrimPrefix(s, ",")
		}
		if s[0] != ';' {
			return s[nextParam(s):]
		}
		var name, value string
		name, value, s = cutParam(s[1:])
		switch strings.ToLower(name) {
		case "rel":
			if !hasRel {
				l.rel, hasRel = value, true
			}
		case "type":
			l.mediaType = value
		case "as":
			l.as = strings.ToLower(value)
		case "anchor":
			l.anchored = value != "" && value[0] != '#'
		}
	}
}

// nextParam returns the position of the next comma or semicolon.
func nextParam(s string) int {
	if i := strings.IndexAny(s, ",;"); i >= 0 {
		return i
	}
	return len(s)
}

// cutParam cuts name=value or name="value" off s.
func cutParam(s string) (name, value, rest string) {
	i := strings.IndexAny(s, "=,;")
	if i < 0 {
		return strings.Trim(s, asciiBlank), "", ""
	}
	name, rest = strings.Trim(s[:i], asciiBlank), s[i:]
	if rest[0] != '=' {
		return name, "", rest
	}
	rest = strings.TrimLeft(rest[1:], asciiBlank)
	if strings.HasPrefix(rest, `"`) {
		value, rest = cutQuoted(rest[1:])
		return name, value, rest
	}
	n := nextParam(rest)
	return name, strings.Trim(rest[:n], asciiBlank), rest[n:]
}

// cutQuoted reads a quoted string after its opening quote.
func cutQuoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			if i++; i == len(s) {
				return b.String(), ""
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}
