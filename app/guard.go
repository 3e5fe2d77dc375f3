package app

import (
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"

	"curtsy/internal/localweb"
)

// Name is the host name of the page. Cookies are shared between ports, so those of 127.0.0.1
// would be sent to every server on this machine (RFC 6265 §8.5).
const Name = "curtsy.localhost"

const cookieName = "curtsy-app"

// guard admits requests that come from the page itself and are authenticated: by the key in the
// first URL, then by a session cookie.
type guard struct {
	names        localweb.Names
	key, session string
}

func newGuard(port string) *guard {
	return &guard{names: localweb.Names{Port: port}, key: rand.Text(), session: rand.Text()}
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// ours reports whether the Host of a request is the page's.
func (g *guard) ours(host string) bool {
	name, port := localweb.SplitHost(host)
	return g.names.Has(host) || name == Name && port == g.names.Port
}

// wrong returns why a request is rejected; "" if it is not.
func (g *guard) wrong(r *http.Request) (status int, why string) {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	changes := r.Method != http.MethodGet && r.Method != http.MethodHead
	switch {
	case !g.ours(r.Host): // DNS rebinding: another name resolves to this server
		return http.StatusMisdirectedRequest, "this server answers only to its own names"
	case changes && r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "GET and POST only"
	case origin != "" && origin != "http://"+r.Host:
		return http.StatusForbidden, "pages of other sites may not ask this server"
	case site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
		return http.StatusForbidden, "pages of other sites may not read this page"
	case changes && origin == "" && site != "same-origin":
		return http.StatusForbidden, "a form of this page says where it comes from"
	case r.Header.Get("Service-Worker") != "":
		return http.StatusForbidden, "no service workers here"
	}
	return 0, ""
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// in reports whether a request has the session cookie.
func (g *guard) in(r *http.Request) bool {
	for _, c := range r.CookiesNamed(cookieName) {
		if same(c.Value, g.session) {
			return true
		}
	}
	return false
}

// protect applies the checks before serve; outside answers requests without key or session.
func (g *guard) protect(serve, outside http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		localweb.Harden(h)
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if status, why := g.wrong(r); why != "" {
			localweb.Refuse(w, status, why)
			return
		}
		key := r.URL.Query().Get("key")
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/" && same(key, g.key):
			http.SetCookie(w, &http.Cookie{Name: cookieName, Value: g.session, Path: "/", HttpOnly: true,
				SameSite: http.SameSiteStrictMode})
			http.Redirect(w, r, "/", http.StatusSeeOther)
		case g.in(r) || strings.HasPrefix(r.URL.Path, "/static/"):
			serve.ServeHTTP(w, r)
		default:
			outside.ServeHTTP(w, r)
		}
	})
}
