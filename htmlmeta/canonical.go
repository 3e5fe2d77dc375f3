package htmlmeta

import (
	"strings"

	"curtsy/internal/weburl"
)

// absolute reads a reference that is an absolute URL and in canonical form
// already, as most links to other sites are. It answers for these only: a
// name of plain letters and no port, a path without dot segments, nothing
// that the parser would encode. A fuzz test holds it against weburl.Parse.
func absolute(ref string) (weburl.URL, bool) {
	host := 0
	switch {
	case strings.HasPrefix(ref, "https://"):
		host = len("https://")
	case strings.HasPrefix(ref, "http://"):
		host = len("http://")
	default:
		return weburl.URL{}, false
	}
	path := strings.IndexByte(ref[host:], '/')
	if path < 0 {
		path = len(ref) - host
	}
	if path += host; len(ref) >= weburl.MaxLength || !plainHost(ref[host:path]) || !plainPath(ref[path:]) {
		return weburl.URL{}, false
	}
	if path == len(ref) {
		return weburl.Canonical(ref + "/"), true
	}
	return weburl.Canonical(strings.Clone(ref)), true
}

// plainHost says whether a host is letters and digits in lower case, its last
// label letters only (else it may be an IPv4 address), and not an IDN.
func plainHost(host string) bool {
	label := 0
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z':
		case isDigit(c), c == '-' && i > label:
		case c == '.' && i > label:
			label = i + 1
		default:
			return false
		}
	}
	last := host[label:]
	return last != "" && len(host) < 254 && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == "" && !strings.Contains(host, "--")
}

// plainOctets are those that path and query keep as they are.
var plainOctets = func() (t [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_~!$&()+,;=@/%*:.?") {
		t[c] = true
	}
	return
}()

// plainPath says whether a path and its query stay as they are.
func plainPath(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case !plainOctets[c]:
			return false
		case c == '.' && s[i-1] == '/', c == '%' && i+2 < len(s) && s[i+1] == '2' && s[i+2]|0x20 == 'e':
			return false // perhaps a dot segment
		}
	}
	return true
}
