package rules

import (
	"mime"
	"strings"
)

// Location is the path of robots.txt, in lower case and at the root (RFC 9309 §2.3). It is always
// allowed (§2.2.2).
const Location = "/robots.txt"

// Access is what the response to a request for robots.txt means.
type Access int

// The outcomes (RFC 9309 §2.3.1).
const (
	Parsed  Access = iota // parse the body
	Absent                // "unavailable": no rules, everything is allowed
	Refused               // "unreachable": everything is disallowed for now; ask again later
)

// statusAccess returns the meaning of an HTTP status; 0 stands for no response (timeout, DNS, TLS, a
// truncated body). A 3xx is left after the redirects that are followed, and may count as absent
// (§2.3.1.2). 429 asks for fewer requests and does not mean that there are no rules; nor does a 304 if
// there is no copy.
func statusAccess(status int, o Options) Access {
	class := status / 100
	switch {
	case o.Dialect == Yandex && status != 0:
		if status == 200 {
			return Parsed
		}
		return Absent
	case class == 2:
		return Parsed
	case status == 429 || status == 304:
		return Refused
	case class == 3 || class == 4:
		return Absent
	}
	return Refused
}

// ResponseAccess is statusAccess, except that in the Yandex dialect a file that is not text has no rules.
// In the other dialects the Content-Type does not matter.
func ResponseAccess(status int, contentType string, o Options) Access {
	a := statusAccess(status, o)
	if a != Parsed || o.Dialect != Yandex || contentType == "" {
		return a
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err == nil && !strings.HasPrefix(media, "text/") {
		return Absent
	}
	return a
}

// AllowAll returns a robots.txt that allows everything, with the reason.
func AllowAll(why string) *Robots { return &Robots{all: allAllowed, why: why} }

// DenyAll returns a robots.txt that disallows everything, with the reason.
func DenyAll(why string) *Robots { return &Robots{all: allDenied, why: why} }
