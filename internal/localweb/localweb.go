// Package localweb decides which requests the web servers of this program answer, and at which
// origin they serve untrusted pages. Any page in a browser can send requests to this machine
// (DNS rebinding, links, forms). Cookies are shared between ports, so a page served under
// 127.0.0.1 would share those of every service there (RFC 6265 §8.5). So untrusted pages are
// served at TOKEN.localhost (RFC 6761 §6.3) or, where that cannot be used, with an opaque
// origin below /TOKEN/.
package localweb

import (
	"crypto/rand"
	"net"
	"net/http"
	"os"
	"strings"
)

// Names are the host names that a server answers to.
type Names struct {
	Port string // "": any, for a server reached through a tunnel
	// Public adds all addresses and the name of the machine to the loopback names.
	Public bool
}

// NewToken returns an unguessable name for an origin.
func NewToken() string { return "a" + strings.ToLower(rand.Text()[:16]) }

// Has reports whether the Host of a request is one of the names.
func (n Names) Has(host string) bool {
	name, ip, ok := n.split(host)
	if !ok {
		return false
	}
	if ip != nil {
		return n.Public || ip.IsLoopback()
	}
	machine, _ := os.Hostname()
	return name == "localhost" || n.Public && machine != "" && name == strings.ToLower(machine)
}

// IsOwn reports whether the Host of a request is the name of a token.
func (n Names) IsOwn(host, token string) bool {
	name, _, ok := n.split(host)
	return ok && name == token+".localhost"
}

func (n Names) split(host string) (name string, ip net.IP, ok bool) {
	name, port := SplitHost(host)
	return name, net.ParseIP(name), n.Port == "" || port == n.Port
}

// SplitHost parses the Host of a plain HTTP request; the default port is 80.
func SplitHost(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
	}
	return strings.ToLower(name), port
}

// Below removes the prefix "/TOKEN" of a request target.
func Below(token, target string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(target, "/"+token)
	return rest, ok && strings.HasPrefix(rest, "/")
}

// Access is the decision about a request.
type Access int

// The kinds of access.
const (
	Refused Access = iota // the Host is not one of the server's names
	Own                   // only pages of the same origin have access
	// Opaque also grants access to opaque origins: the path has the token, which other pages do
	// not know.
	Opaque
)

// Guard admits GET and HEAD requests to the server's own names that come from its own pages.
func Guard(access func(*http.Request) Access, serve http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, a, origin := w.Header(), access(r), r.Header.Get("Origin")
		Harden(h)
		switch {
		case a == Refused: // DNS rebinding: another name resolves to this server
			Refuse(w, http.StatusMisdirectedRequest, "this server answers only to its own names")
		case a == Own && r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate",
			origin != "" && origin != "http://"+r.Host && (a != Opaque || origin != "null"):
			Refuse(w, http.StatusForbidden, "pages of other sites may not read this page")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			Refuse(w, http.StatusMethodNotAllowed, "this server is read-only")
		case r.Header.Get("Service-Worker") != "":
			Refuse(w, http.StatusForbidden, "pages of others may not install service workers here")
		default:
			if origin == "null" { // fonts, modules and fetch, also with credentials, which mean nothing here
				h.Set("Access-Control-Allow-Origin", "null")
				h.Set("Access-Control-Allow-Credentials", "true")
			}
			serve.ServeHTTP(w, r)
		}
	})
}

// Harden sets security headers of all responses.
func Harden(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Cache-Control", "no-store")
	h.Set("Permissions-Policy", permissions)
}

// Refuse answers with a line of text.
func Refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	http.Error(w, why, status)
}

// permissions denies pages access to devices and other features.
const permissions = "accelerometer=(), ambient-light-sensor=(), attribution-reporting=(), autoplay=(self), " +
	"bluetooth=(), browsing-topics=(), camera=(), compute-pressure=(), cross-origin-isolated=(), display-capture=(), " +
	"encrypted-media=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), identity-credentials-get=(), " +
	"idle-detection=(), join-ad-interest-group=(), local-fonts=(), magnetometer=(), microphone=(), " +
	"midi=(), otp-credentials=(), payment=(), picture-in-picture=(), private-state-token-issuance=(), " +
	"publickey-credentials-create=(), publickey-credentials-get=(), run-ad-auction=(), " +
	"screen-wake-lock=(), serial=(), shared-storage=(), storage-access=(), usb=(), web-share=(), " +
	"window-management=(), xr-spatial-tracking=()"
