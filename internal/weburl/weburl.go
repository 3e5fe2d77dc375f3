// Package weburl answers: which URL is this? It holds the one canonical URL
// type of Curtsy: parsed as browsers parse (WHATWG URL Standard), without
// fragment and without credentials, and only http or https. Only the route that a
// page's scripts keep in a fragment ("#/about") may stand in one: see InPage.
package weburl

import (
	"errors"
	"fmt"
	"math"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/text/encoding"
)

// MaxLength is the longest URL, in bytes of its canonical form or of the
// reference it is made from, that is accepted. Servers refuse longer ones
// (the usual limit of a request line is 8 KiB) and only traps offer them.
const MaxLength = 8192

// Errors of Parse and Resolve.
var (
	ErrScheme  = errors.New("scheme is not http or https")
	ErrTooLong = errors.New("longer than 8192 bytes")
	ErrInvalid = errors.New("not a valid URL")
)

// URL is an absolute http or https URL in canonical form: the WHATWG
// serialisation without fragment and credentials. The zero URL is none.
// URLs are values and comparable: equal URLs are the same resource name.
type URL struct {
	href    string // of at most MaxLength octets
	hostAt  uint16 // start of the host, after "://"
	pathAt  uint16 // start of the path; everything before it is the origin
	queryAt uint16 // index of '?', or routeAt
	routeAt uint16 // index of '#', or len(href)
}

// Parse reads an absolute URL and canonicalizes it.
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

// MustParse is Parse for literals known to be right; it panics otherwise.
func MustParse(s string) URL {
	u, err := Parse(s)
	if err != nil {
		panic(fmt.Sprintf("weburl: %q: %v", s, err))
	}
	return u
}

// FromCanonical takes a string that is in canonical form already, as String
// gave it, without parsing it again. It is for reading what the archive stores;
// anything else goes to Parse, which canonicalizes. A string that cannot have
// come from String gives the zero URL.
func FromCanonical(href string) URL {
	u, ok := index(href)
	if !ok {
		return URL{}
	}
	return u
}

// Resolve reads ref relative to u (WHATWG basic URL parser with a base).
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

// ResolveIn is Resolve for a reference found in a document of another
// charset than UTF-8: the query is percent-encoded in that charset (WHATWG
// URL, query state), the path always in UTF-8. enc nil means UTF-8.
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
		b.WriteByte('?') // an empty query is not none
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

// maxLabel is how long a label of a name may be (RFC 1035 §2.3.4).
const maxLabel = 63

// resolvable is false for a name whose international label became too long for the
// DNS when it was written in ASCII: the parser makes such a name and reads none.
func resolvable(host string) bool {
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > maxLabel && strings.HasPrefix(label, "xn--") {
			return false
		}
	}
	return true
}

// afterScheme is where the host begins; 0 if the scheme is neither http nor https.
func afterScheme(href string) int {
	for _, scheme := range [...]string{"http://", "https://"} {
		if strings.HasPrefix(href, scheme) {
			return len(scheme)
		}
	}
	return 0
}

// index finds the parts of a serialised URL.
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

// IsZero says whether u is no URL at all.
func (u URL) IsZero() bool { return u.href == "" }

// String is the canonical form, "https://host/path?query".
func (u URL) String() string { return u.href }

// Scheme is "http" or "https".
func (u URL) Scheme() string {
	if int(u.hostAt) == len("https://") {
		return "https"
	}
	return "http"
}

// Host is the host with its port, where that is not the scheme's own.
func (u URL) Host() string { return u.href[u.hostAt:u.pathAt] }

// Hostname is the host without port; an IPv6 address keeps its brackets.
func (u URL) Hostname() string {
	h := u.Host()
	if i := strings.LastIndexByte(h, ':'); i >= 0 && !strings.HasSuffix(h, "]") {
		return h[:i]
	}
	return h
}

// Port is the port in digits, the scheme's default where none is written.
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

// Origin is "scheme://host[:port]", the scope of one robots.txt.
func (u URL) Origin() string { return u.href[:u.pathAt] }

// Path is the path as it is sent, percent-encoded.
func (u URL) Path() string { return u.href[u.pathAt:u.queryAt] }

// Route is the fragment that names a page within a page, "#/about", or "".
func (u URL) Route() string { return u.href[u.routeAt:] }

// Page is the URL without a route: what is asked for.
func (u URL) Page() URL {
	u.href = u.href[:u.routeAt]
	return u
}

// InPage is the URL of a page that scripts show for a fragment; u's own page where the
// fragment is no route.
func (u URL) InPage(fragment string) URL {
	u = u.Page()
	if route, _ := CutRoute(fragment); route != "" && len(u.href)+len(route) <= MaxLength {
		u.href += route
	}
	return u
}

// ParsePage is Parse for what String gave: a route is kept.
func ParsePage(s string) (URL, error) {
	u, err := Parse(s)
	if i := strings.IndexByte(s, '#'); err == nil && i >= 0 {
		u = u.InPage(s[i:])
	}
	return u, err
}

// CutRoute gives the route that a fragment names and the place in its page, "#part":
// "#/about" and "#!/about" are routes, "#/" and "#!" the page itself. docsify writes
// places as "#/about?id=part".
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

// IsRoute says whether a fragment is written as routes are.
func IsRoute(fragment string) bool {
	return strings.HasPrefix(fragment, "#/") || strings.HasPrefix(fragment, "#!")
}

// Query is what follows the '?', or "".
func (u URL) Query() string {
	if u.queryAt == u.routeAt {
		return ""
	}
	return u.href[u.queryAt+1 : u.routeAt]
}

// Target is path and query, as in a request line and as robots.txt rules see it.
func (u URL) Target() string { return u.href[u.pathAt:u.routeAt] }

// HasQuery says whether there is a '?', be the query empty or not.
func (u URL) HasQuery() bool { return u.queryAt < u.routeAt }

// trim cuts the C0 controls and blanks that the URL parser ignores at both ends.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
}
