package rules

import (
	"strconv"
	"strings"
)

// Classes of octets in the normalized form in which rules and URLs are compared.
const (
	classEscape  = iota // always written as %XX
	classReserve        // literal; its %XX is different ("/", "?", "&")
	classSame           // literal; its %XX is equivalent
)

// classOf returns the class of an octet (RFC 9309 §2.2.2).
//
// Unreserved octets are equivalent to their escapes, and so are ! ' ( ) and those delimiters that
// separate neither path segments nor parameters, since §2.2.2 requires both sides to be encoded in the
// same way. %2F, %3F and %26 differ from / ? &. '*' and '$' are path octets here, not wildcards: they are
// written as %2A and %24.
func classOf(c byte) int {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return classSame
	case strings.IndexByte("-._~!'():@=+,;", c) >= 0:
		return classSame
	case c == '/' || c == '?' || c == '&':
		return classReserve
	}
	return classEscape
}

var classes = func() (t [256]uint8) {
	for c := range t {
		t[c] = uint8(classOf(byte(c)))
	}
	return
}()

const upperHex = "0123456789ABCDEF"

// escaped decodes %XX at the start of s.
func escaped(s string) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[1:3], 16, 8)
	return byte(n), err == nil
}

// isNormal reports whether a path is already normalized.
func isNormal(s string) bool {
	for i := 0; i < len(s); i++ {
		if classes[s[i]] != classEscape {
			continue
		}
		c, ok := escaped(s[i:])
		if !ok || classes[c] == classSame || s[i+1] >= 'a' || s[i+2] >= 'a' {
			return false
		}
		i += 2
	}
	return true
}

// normal normalizes path and query of a URL. In the 1994 dialect every %XX except %2F is decoded before
// comparison, so %3F and %26 are equivalent to ? and &.
func normal(s string, d Dialect) string {
	if isNormal(s) && (d != Classic1994 || !strings.Contains(s, "%")) {
		return s
	}
	out := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); i++ {
		c, coded := escaped(s[i:])
		if coded {
			i += 2
		} else {
			c = s[i]
		}
		out = appendOctet(out, c, coded, d)
	}
	return string(out)
}

func appendOctet(out []byte, c byte, coded bool, d Dialect) []byte {
	class := classes[c]
	if class == classSame || class == classReserve && (!coded || d == Classic1994 && c != '/') {
		return append(out, c)
	}
	return append(out, '%', upperHex[c>>4], upperHex[c&15])
}

// pathOf returns what rules are compared with: normalized path and query, without the fragment, beginning
// with a slash.
func pathOf(target string, d Dialect) string {
	target, _, _ = strings.Cut(target, "#")
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return normal(target, d)
}

// pattern is the normalized path of a rule.
type pattern struct {
	text   string // '*' is any octets; repeated ones are merged
	end    bool   // '$' was the last octet: the path must end here
	star   int    // index of the first '*' in text, or len(text)
	stars  int    // number of '*' in text
	octets int    // length for precedence: '*' and '$' count as one
}

// newPattern parses the path of a rule. Only '*' anywhere and '$' at the very end are special (RFC 9309
// §2.2.3); in the 1994 standard nothing is.
func newPattern(s string, d Dialect) pattern {
	var p pattern
	special := d != Classic1994
	if special && strings.HasSuffix(s, "$") {
		s, p.end, p.octets = s[:len(s)-1], true, 1
	}
	out := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		c, coded := escaped(s[i:])
		switch {
		case coded:
			i += 2
		case special && s[i] == '*':
			p.octets++
			if len(out) == 0 || out[len(out)-1] != '*' {
				out = append(out, '*')
			}
			continue
		default:
			c = s[i]
		}
		was := len(out)
		out = appendOctet(out, c, coded, d)
		p.octets += len(out) - was
		if c == '$' && !coded {
			p.octets -= 2 // an unescaped '$' counts as one octet
		}
	}
	p.text = string(out)
	p.stars = strings.Count(p.text, "*")
	if p.star = strings.IndexByte(p.text, '*'); p.star < 0 {
		p.star = len(p.text)
	}
	return p
}

// literal reports whether the pattern is a plain prefix.
func (p *pattern) literal() bool { return p.star == len(p.text) && !p.end }

// matches matches the pattern against a path from its beginning. Each piece between stars is searched for
// once, leftmost first, so that the time is linear however many stars there are.
func (p *pattern) matches(path string) bool {
	if !strings.HasPrefix(path, p.text[:p.star]) {
		return false
	}
	path = path[p.star:]
	if p.star == len(p.text) {
		return !p.end || path == ""
	}
	rest := p.text[p.star+1:]
	for {
		i := strings.IndexByte(rest, '*')
		if i < 0 {
			break
		}
		at := strings.Index(path, rest[:i])
		if at < 0 {
			return false
		}
		path, rest = path[at+i:], rest[i+1:]
	}
	if p.end {
		return strings.HasSuffix(path, rest)
	}
	return strings.Contains(path, rest)
}
