// Package localweb answers: who may ask the web servers of this program, and at
// which origin are pages of others shown? A browser gives any page that it shows
// the means to ask this machine (DNS rebinding, links, forms), and cookies know no
// ports: a page that is shown under 127.0.0.1 would share those of every service
// there (RFC 6265 §8.5). So pages of others have a name of their own, TOKEN.localhost
// (RFC 6761 §6.3), and where there is none an opaque origin below /TOKEN/.
package localweb

import (
	"crypto/rand"
	"net"
	"net/http"
	"os"
	"strings"
)

// Names are those that a server answers under.
type Names struct {
	Port string // "" is any, for a server that may be reached through a tunnel
	// Public adds all addresses of the machine, and its name, to those of loopback.
	Public bool
}

// NewToken makes a name for an origin that nobody guesses.
func NewToken() string { return "a" + strings.ToLower(rand.Text()[:16]) }

// Has says whether the Host of a request is the machine.
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

// IsOwn says whether the Host of a request is the name of a token.
func (n Names) IsOwn(host, token string) bool {
	name, _, ok := n.split(host)
	return ok && name == token+".localhost"
}

func (n Names) split(host string) (name string, ip net.IP, ok bool) {
	name, port := SplitHost(host)
	return name, net.ParseIP(name), n.Port == "" || port == n.Port
}

// SplitHost reads the Host of a request to a server of plain HTTP.
func SplitHost(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
	}
	return strings.ToLower(name), port
}

// Below takes "/TOKEN" off the target of a request.
func Below(token, target string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(target, "/"+token)
	return rest, ok && strings.HasPrefix(rest, "/")
}

// Access is what Guard makes of who asks.
type Access int

// The kinds of access.
const (
	Refused Access = iota // the Host is not one of the server's
	Own                   // pages of the same origin may ask
	// Opaque lets pages of opaque origins ask: the path holds the token, which no
	// page of others knows.
	Opaque
)

// Guard lets through what a browser asks for on the server's own pages: GET and
// HEAD, under its names.
func Guard(access func(*http.Request) Access, serve http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, a, origin := w.Header(), access(r), r.Header.Get("Origin")
		Harden(h)
		switch {
		case a == Refused: // DNS rebinding: a stranger's name leads here
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
			if origin == "null" { // fonts, modules and fetch, and those that ask with cookies: none means anything here
				h.Set("Access-Control-Allow-Origin", "null")
				h.Set("Access-Control-Allow-Credentials", "true")
			}
			serve.ServeHTTP(w, r)
		}
	})
}

// Harden sets what all answers say to browsers.
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

// permissions takes from pages what reaches beyond them.
const permissions = "accelerometer=(), ambient-light-sensor=(), attribution-reporting=(), autoplay=(self), " +
	"bluetooth=(), browsing-topics=(), camera=(), compute-pressure=(), cross-origin-isolated=(), display-capture=(), " +
	"encrypted-media=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), identity-credentials-get=(), " +
	"idle-detection=(), join-ad-interest-group=(), local-fonts=(), magnetometer=(), microphone=(), " +
	"midi=(), otp-credentials=(), payment=(), picture-in-picture=(), private-state-token-issuance=(), " +
	"publickey-credentials-create=(), publickey-credentials-get=(), run-ad-auction=(), " +
	"screen-wake-lock=(), serial=(), shared-storage=(), storage-access=(), usb=(), web-share=(), " +
	"window-management=(), xr-spatial-tracking=()"
