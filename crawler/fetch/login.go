package fetch

import (
	"bytes"
	"crypto/tls"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"curtsy/internal/weburl"

	"golang.org/x/net/http/httpguts"
)

// Withheld stands in what is kept of an exchange where a credential was.
const Withheld = "(withheld)"

// Login is what one origin is shown by a client that may see more of it than
// everybody. It is sent to that origin only, and never kept: the request's
// copy has Withheld in its place, and so have the cookies that the origin sets.
type Login struct {
	Origin        string            // of a weburl.URL
	Authorization string            // the value of the field; "" sends none
	Header        http.Header       // further fields that hold credentials; see Secret
	Cookies       http.CookieJar    // nil sends none
	Names         []string          // of the cookies that make the login
	Certificates  []tls.Certificate // shown in the TLS handshake with Origin

	cleared atomic.Pointer[string] // the name of the cookie that the origin took away
}

// goesTo says whether a request over k is shown the login: not one that a proxy
// would read.
func (l *Login) goesTo(u weburl.URL, k *conn) bool {
	return l != nil && u.Origin() == l.Origin && k.forward == nil
}

// appendLogin adds to the request the names of the fields that are withheld;
// secret holds the fields themselves.
func (l *Login) appendLogin(b []byte, r Request) (request, secret []byte) {
	add := func(name, value string) {
		if value == "" || !httpguts.ValidHeaderFieldValue(value) {
			return
		}
		b = append(b, name+": "+Withheld+"\r\n"...)
		secret = append(secret, name+": "+value+"\r\n"...)
	}
	add("Authorization", l.Authorization)
	add("Cookie", l.cookieLine(r.URL))
	for _, name := range slices.Sorted(maps.Keys(l.Header)) {
		if httpguts.ValidHeaderFieldName(name) && !framing[name] {
			add(name, l.Header.Get(name))
		}
	}
	return b, secret
}

// cookieLine is the value of Cookie for u (RFC 6265 §5.4), as the cookies were
// given.
func (l *Login) cookieLine(u weburl.URL) string {
	at := secureURL(u)
	if l.Cookies == nil || at == nil {
		return ""
	}
	var pairs []string
	for _, k := range l.Cookies.Cookies(at) {
		pairs = append(pairs, k.Name+"="+k.Value)
	}
	return strings.Join(pairs, "; ")
}

// secureURL is u for a jar. Where the login may be shown, the way is safe: TLS,
// or this machine.
func secureURL(u weburl.URL) *url.URL {
	at := standard(u)
	if at != nil {
		at.Scheme = "https"
	}
	return at
}

// withhold takes the cookies that the origin sets out of what is kept, and notes
// which of the login's it clears.
func (l *Login) withhold(x *Exchange, now time.Time) {
	if len(x.Header["Set-Cookie"]) == 0 {
		return
	}
	set := (&http.Response{Header: x.Header}).Cookies()
	for _, k := range set {
		switch {
		case slices.Contains(l.Names, k.Name) && clears(k, now):
			x.Cleared = k.Name
		case k.Name == x.Cleared: // taken away and given anew
			x.Cleared = ""
		}
	}
	if name := x.Cleared; name != "" { // before the jar forgets it: see missing
		l.cleared.Store(&name)
	}
	if at := secureURL(x.URL); l.Cookies != nil && at != nil {
		l.Cookies.SetCookies(at, set[:min(len(set), MaxCookies)])
	}
	x.Header["Set-Cookie"] = []string{Withheld}
	x.Head = withoutCookies(x.Head)
}

// missing is the cookie whose loss made a request of the login's origin go without
// it: another answer, read meanwhile, had taken it away. "" if there is none.
func (l *Login) missing(u weburl.URL) string {
	if l == nil || u.Origin() != l.Origin || l.cleared.Load() == nil {
		return ""
	}
	return *l.cleared.Load()
}

// clears says whether a Set-Cookie takes the cookie away (RFC 6265 §3.1).
func clears(k *http.Cookie, now time.Time) bool {
	return k.Value == "" || k.Value == "deleted" || k.MaxAge < 0 || !k.Expires.IsZero() && k.Expires.Before(now)
}

// withoutCookies is a copy of a head in which Set-Cookie has no value.
func withoutCookies(head []byte) []byte {
	var res []byte
	folded := false
	for line := range bytes.Lines(head) {
		name, _, isField := bytes.Cut(line, []byte(":"))
		switch {
		case folded && (line[0] == ' ' || line[0] == '\t'):
			continue // obs-fold: still the value (RFC 9112 §5.2)
		case isField && strings.EqualFold(string(bytes.TrimSpace(name)), "Set-Cookie"):
			folded = true
			res = append(res, name...)
			res = append(res, ": "+Withheld...)
			res = append(res, line[len(bytes.TrimRight(line, "\r\n")):]...)
		default:
			folded = false
			res = append(res, line...)
		}
	}
	return res
}
