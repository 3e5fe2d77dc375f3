package rules

import (
	"mime"
	"strings"
)

// Location is the path, in this case and at the root only, that a site's
// robots.txt has (RFC 9309 §2.3). It is always allowed (§2.2.2).
const Location = "/robots.txt"

// Access is what the outcome of asking for a robots.txt means.
type Access int

// The outcomes (RFC 9309 §2.3.1).
const (
	Parsed  Access = iota // read the body
	Absent                // "unavailable": no rules, everything is allowed
	Refused               // "unreachable": everything is disallowed for now; wait, ask again
)

// statusAccess says what an HTTP status of the robots.txt means; 0 stands for
// no answer at all (timeout, DNS, TLS, a cut body). A 3xx is what remains
// after the hops that are followed: that MAY be taken as absent (§2.3.1.2). 429 is
// the server asking for less, not the absence of rules, and so little is a 304
// to somebody who has no copy.
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

// ResponseAccess is statusAccess that also looks at the Content-Type: in the
// Yandex dialect a file that is not text has no rules. Elsewhere the type is
// no reason to overlook rules.
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

// AllowAll is the robots.txt that allows everything, for the stated reason.
func AllowAll(why string) *Robots { return &Robots{all: allAllowed, why: why} }

// DenyAll is the robots.txt that disallows everything, for the stated reason.
func DenyAll(why string) *Robots { return &Robots{all: allDenied, why: why} }
