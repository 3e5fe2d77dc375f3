package weburl

import "strings"

// parseFast parses an absolute URL that is already canonical, as most links to other sites are:
// a host name of plain letters without a port, a path without dot segments, nothing to encode.
// It returns false for all others. A fuzz test compares it with the full parser.
func parseFast(ref string) (URL, bool) {
	ref, _, _ = strings.Cut(ref, "#")
	host := afterScheme(ref)
	if host == 0 {
		return URL{}, false
	}
	path := strings.IndexByte(ref[host:], '/')
	if path < 0 {
		path = len(ref) - host
	}
	if path += host; len(ref) >= MaxLength || !plainHost(ref[host:path]) {
		return URL{}, false
	}
	if _, plain := scanPlain(ref[path:]); !plain {
		return URL{}, false
	}
	if path == len(ref) {
		return FromCanonical(ref + "/"), true
	}
	return FromCanonical(strings.Clone(ref)), true
}

// plainHost reports whether a host consists of lower-case letters and digits, its last label of
// letters only (otherwise it may be an IPv4 address), and is not an IDN.
func plainHost(host string) bool {
	label := 0
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z':
		case '0' <= c && c <= '9', c == '-' && i > label:
		case c == '.' && i > label:
			label = i + 1
		default:
			return false
		}
	}
	last := host[label:]
	return last != "" && len(host) < 254 && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == "" &&
		!strings.Contains(host, "--")
}
