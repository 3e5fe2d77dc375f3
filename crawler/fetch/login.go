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

// Withheld replaces credentials in the recorded request and response.
const Withheld = "(withheld)"

// Login holds the credentials for one origin. They are sent to that origin only and never
// recorded: Withheld replaces them in the request, and the value of Set-Cookie in the response.
type Login struct {
	Origin        string            // as weburl.URL.Origin returns it
	Authorization string            // the value of the field; "" sends none
	Header        http.Header       // further header fields with credentials; see Secret
	Cookies       http.CookieJar    // nil sends none
	Names         []string          // names of the cookies that are the login
	Certificates  []tls.Certificate // shown in the TLS handshake with Origin

	cleared atomic.Pointer[string] // name of the login cookie that the origin deleted
}

// goesTo reports whether a request for u over k carries the login; not if a proxy could read it.
func (l *Login) goesTo(u weburl.URL, k *conn) bool {
	return l != nil && u.Origin() == l.Origin && k.forward == nil
}

// appendLogin appends the login's fields to the request b with their values withheld; secret has
// the fields with their values.
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

// cookieLine returns the value of Cookie for u (RFC 6265 §5.4), without the escaping that
// http.Request.AddCookie applies.
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

// secureURL is u as https, for the cookie jar: a login is only sent over TLS or to this machine.
func secureURL(u weburl.URL) *url.URL {
	at := standard(u)
	if at != nil {
		at.Scheme = "https"
	}
	return at
}

// withhold removes Set-Cookie values from the recorded response, gives the cookies to the jar, and
// records which login cookie the response deletes.
func (l *Login) withhold(x *Exchange, now time.Time) {
	if len(x.Header["Set-Cookie"]) == 0 {
		return
	}
	set := (&http.Response{Header: x.Header}).Cookies()
	for _, k := range set {
		switch {
		case slices.Contains(l.Names, k.Name) && clears(k, now):
			x.Cleared = k.Name
		case k.Name == x.Cleared: // deleted and set again in the same response
			x.Cleared = ""
		}
	}
	if name := x.Cleared; name != "" { // before the jar deletes it: see missing
		l.cleared.Store(&name)
	}
	if at := secureURL(x.URL); l.Cookies != nil && at != nil {
		l.Cookies.SetCookies(at, set[:min(len(set), MaxCookies)])
	}
	x.Header["Set-Cookie"] = []string{Withheld}
	x.Head = withoutCookies(x.Head)
}

// missing returns the name of the login cookie that an earlier response deleted, so that a request
// to the login's origin went without it; "" if there is none.
func (l *Login) missing(u weburl.URL) string {
	if l == nil || u.Origin() != l.Origin || l.cleared.Load() == nil {
		return ""
	}
	return *l.cleared.Load()
}

// clears reports whether a Set-Cookie deletes the cookie (RFC 6265 §3.1).
func clears(k *http.Cookie, now time.Time) bool {
	return k.Value == "" || k.Value == "deleted" || k.MaxAge < 0 || !k.Expires.IsZero() && k.Expires.Before(now)
}

// withoutCookies copies a head with Withheld as the value of each Set-Cookie.
func withoutCookies(head []byte) []byte {
	var res []byte
	folded := false
	for line := range bytes.Lines(head) {
		name, _, isField := bytes.Cut(line, []byte(":"))
		switch {
		case folded && (line[0] == ' ' || line[0] == '\t'):
			continue // obs-fold: continues the value (RFC 9112 §5.2)
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
