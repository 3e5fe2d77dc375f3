package rules

import (
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Host returns the main mirror that the site names: a domain name with an optional port. The first valid
// line counts, wherever it is.
func (r *Robots) Host() (host string, line int, ok bool) {
	return r.host, r.hostLine, r.hostLine != 0
}

func (r *Robots) addHost(e entry) {
	switch {
	case !validHost(e.value):
		r.warn(e.line, "Host %s is not a domain name with an optional port: ignored", quote(e.value))
	case r.hostLine != 0:
		r.warn(e.line, "a second Host: line %d is used", r.hostLine)
	default:
		r.host, r.hostLine = e.value, e.line
	}
}

// validHost reports whether s is a domain name (RFC 952, RFC 1123 §2.1), not an IP address, with an
// optional port from 1 to 65535.
func validHost(s string) bool {
	name, port, hasPort := strings.Cut(s, ":")
	if hasPort {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return false
		}
	}
	name = strings.ToLower(name)
	ascii, err := idna.Registration.ToASCII(name)
	last := name[strings.LastIndexByte(name, '.')+1:]
	return err == nil && ascii == name && strings.Trim(last, "0123456789") != ""
}
