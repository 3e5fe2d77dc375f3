// Package weburl has Curtsy's only URL type: canonical, parsed by the WHATWG URL Standard,
// without fragment and credentials, with http or https. The only exception is a fragment that
// is a route of a client-side router ("#/about"): see InPage.
package weburl

import (
	"errors"
	"fmt"
	"math"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/text/encoding"
)

// MaxLength is the maximum length in bytes of a canonical URL, and of a reference that is
// parsed. Servers reject longer ones (request lines are usually limited to 8 KiB), and only
// crawler traps have them.
const MaxLength = 8192

// Errors of Parse and Resolve.
var (
	ErrScheme  = errors.New("scheme is not http or https")
	ErrTooLong = errors.New("longer than 8192 bytes")
	ErrInvalid = errors.New("not a valid URL")
)

// URL is an absolute http or https URL in canonical form: the WHATWG serialization without
// fragment and credentials. The zero URL is invalid. URLs are comparable: equal values are the
// same URL.
type URL struct {
	href    string // at most MaxLength octets
	hostAt  uint16 // start of the host, after "://"
	pathAt  uint16 // start of the path; what precedes it is the origin
	queryAt uint16 // index of '?', or routeAt
	routeAt uint16 // index of '#', or len(href)
}

// Parse parses and canonicalizes an absolute URL.
func Parse(s string) (URL, error) {
	s = trim(s)
	if len(s) > MaxLength {
		return URL{}, ErrTooLong
	}
	if u, ok := parseFast(s); ok {
		return u, nil
	}
	return parseSlow(URL{}, s)
}

// MustParse is Parse for valid literals; it panics on errors.
func MustParse(s string) URL {
	u, err := Parse(s)
	if err != nil {
		panic(fmt.Sprintf("weburl: %q: %v", s, err))
	}
	return u
}

// FromCanonical converts a string returned by String to a URL without parsing it. It is for
// URLs stored in the archive; use Parse for all others. A string that String cannot have
// returned gives the zero URL.
func FromCanonical(href string) URL {
	u, ok := index(href)
	if !ok {
		return URL{}
	}
	return u
}

// Resolve resolves ref relative to u (WHATWG basic URL parser with a base).
func (u URL) Resolve(ref string) (URL, error) {
	u = u.Page()
	if v, ok := u.resolveFast(ref); ok {
		return v, nil
	}
	if v, ok := parseFast(ref); ok {
		return v, nil
	}
	ref = trim(ref)
	if len(ref) > MaxLength {
		return URL{}, ErrTooLong
	}
	return parseSlow(u, ref)
}

// ResolveIn is Resolve for a reference in a document with a charset other than UTF-8: the query
// is encoded in that charset (WHATWG URL, query state), the path in UTF-8. A nil enc means
// UTF-8.
func (u URL) ResolveIn(ref string, enc encoding.Encoding) (URL, error) {
	if enc != nil {
		ref = encodeQuery(ref, enc)
	}
	return u.Resolve(ref)
}

func parseSlow(base URL, ref string) (URL, error) {
	var w *whatwg.Url
	var err error
	if base.href == "" {
		w, err = whatwg.Parse(ref)
	} else {
		w, err = whatwg.ParseRef(base.href, ref)
	}
	if err != nil {
		return URL{}, ErrInvalid
	}
	if s := w.Scheme(); s != "http" && s != "https" {
		return URL{}, ErrScheme
	}
	if w.Hostname() == "" || !resolvable(w.Hostname()) {
		return URL{}, ErrInvalid
	}
	var b strings.Builder
	b.WriteString(w.Scheme())
	b.WriteString("://")
	b.WriteString(w.Host())
	b.WriteString(w.Pathname())
	if search := w.Search(); search != "" {
		b.WriteString(search)
	} else if strings.HasSuffix(w.Href(true), "?") {
		b.WriteByte('?') // an empty query differs from none
	}
	if b.Len() > MaxLength {
		return URL{}, ErrTooLong
	}
	u, ok := index(b.String())
	if !ok {
		return URL{}, ErrInvalid
	}
	return u, nil
}

// maxLabel is the maximum length of a host name's label (RFC 1035 §2.3.4).
const maxLabel = 63

// resolvable returns false for a host with an international label whose ASCII form is too long
// for the DNS: the parser produces such hosts but does not accept them.
func resolvable(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > maxLabel && strings.HasPrefix(label, "xn--") {
			return false
		}
	}
	return true
}

// afterScheme returns where the host begins; 0 if the scheme is neither http nor https.
func afterScheme(href string) int {
	for _, scheme := range [...]string{"http://", "https://"} {
		if strings.HasPrefix(href, scheme) {
			return len(scheme)
		}
	}
	return 0
}

// index finds the parts of a serialized URL.
func index(href string) (URL, bool) {
	host := afterScheme(href)
	if host == 0 || len(href) > math.MaxUint16 {
		return URL{}, false
	}
	path := strings.IndexByte(href[host:], '/')
	if path <= 0 {
		return URL{}, false
	}
	path += host
	route := strings.IndexByte(href[path:], '#')
	if route < 0 {
		route = len(href)
	} else {
		route += path
	}
	query := strings.IndexByte(href[path:route], '?')
	if query < 0 {
		query = route
	} else {
		query += path
	}
	return URL{href: href, hostAt: uint16(host), pathAt: uint16(path), queryAt: uint16(query), routeAt: uint16(route)},
		true
}

// IsZero reports whether u is the zero URL.
func (u URL) IsZero() bool { return u.href == "" }

// String returns the canonical form, "https://host/path?query".
func (u URL) String() string { return u.href }

// Scheme returns "http" or "https".
func (u URL) Scheme() string {
	if int(u.hostAt) == len("https://") {
		return "https"
	}
	return "http"
}

// Host returns the host, with the port if it is not the scheme's default.
func (u URL) Host() string { return u.href[u.hostAt:u.pathAt] }

// Hostname returns the host without port; an IPv6 address keeps its brackets.
func (u URL) Hostname() string {
	h := u.Host()
	if i := strings.LastIndexByte(h, ':'); i >= 0 && !strings.HasSuffix(h, "]") {
		return h[:i]
	}
	return h
}

// Port returns the port in digits, by default the scheme's.
func (u URL) Port() string {
	h := u.Host()
	if i := strings.LastIndexByte(h, ':'); i >= 0 && !strings.HasSuffix(h, "]") {
		return h[i+1:]
	}
	if u.Scheme() == "https" {
		return "443"
	}
	return "80"
}

// Origin returns "scheme://host[:port]", the scope of a robots.txt.
func (u URL) Origin() string { return u.href[:u.pathAt] }

// Path returns the percent-encoded path.
func (u URL) Path() string { return u.href[u.pathAt:u.queryAt] }

// Route returns the fragment of a client-side route, "#/about", or "".
func (u URL) Route() string { return u.href[u.routeAt:] }

// Page returns the URL without route, which is what is requested.
func (u URL) Page() URL {
	u.href = u.href[:u.routeAt]
	return u
}

// InPage returns the URL of a client-side route of the page, or the page's URL if the fragment
// is not a route.
func (u URL) InPage(fragment string) URL {
	u = u.Page()
	if route, _ := CutRoute(fragment); route != "" && len(u.href)+len(route) <= MaxLength {
		u.href += route
	}
	return u
}

// ParsePage is Parse for the output of String: it keeps a route.
func ParsePage(s string) (URL, error) {
	u, err := Parse(s)
	if i := strings.IndexByte(s, '#'); err == nil && i >= 0 {
		u = u.InPage(s[i:])
	}
	return u, err
}

// CutRoute splits a fragment into a route and a place in its page, "#part". "#/about" and
// "#!/about" are routes; "#/" and "#!" mean the page itself. docsify writes places as
// "#/about?id=part".
func CutRoute(fragment string) (route, part string) {
	if !IsRoute(fragment) {
		return "", fragment
	}
	route, id, _ := strings.Cut(fragment, "?id=")
	if id != "" {
		part = "#" + id
	}
	if strings.Trim(route, "#!/") == "" || strings.ContainsFunc(route, func(r rune) bool {
		return r <= ' ' || r > '~' ||
			strings.ContainsRune(`"<>\\^{|}`+"`", r)
	}) {
		route = ""
	}
	return route, part
}

// IsRoute reports whether a fragment has the syntax of a route.
func IsRoute(fragment string) bool {
	return strings.HasPrefix(fragment, "#/") || strings.HasPrefix(fragment, "#!")
}

// Query returns what follows the '?', or "".
func (u URL) Query() string {
	if u.queryAt == u.routeAt {
		return ""
	}
	return u.href[u.queryAt+1 : u.routeAt]
}

// Target returns path and query, as in a request line and as matched by robots.txt rules.
func (u URL) Target() string { return u.href[u.pathAt:u.routeAt] }

// HasQuery reports whether there is a '?', even with an empty query.
func (u URL) HasQuery() bool { return u.queryAt < u.routeAt }

// trim removes leading and trailing C0 controls and blanks, as URL parsers do.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}
