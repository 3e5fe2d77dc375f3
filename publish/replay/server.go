package replay

import (
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// Options of a server.
type Options struct {
	UI, Content string // addresses that the two listeners have: "127.0.0.1:8600"
	NoScripts   bool   // pages are shown without running their scripts
	// Public answers under the machine's addresses and name, not under those of
	// loopback alone. All archives then share one origin.
	Public bool
	Now    func() time.Time // nil is time.Now
	Logger *slog.Logger     // nil is none
}

// Server shows archives.
type Server struct {
	o       Options
	sources []*Source
	now     func() time.Time
	log     *slog.Logger
	ports   struct{ ui, content string }
	names   map[string]bool // that it answers under
	large   chan struct{}   // who holds a large document in memory

	comparing sync.Mutex // held while the copies of a round are compared
	compared  map[changesKey]*changesView
}

// New makes a server for archives. The first of equals is shown.
func New(sources []*Source, o Options) (*Server, error) {
	s := &Server{o: o, sources: sources, now: o.Now, log: o.Logger, names: map[string]bool{"localhost": true}, large: make(chan struct{}, 2),
		compared: map[changesKey]*changesView{}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if _, s.ports.ui, err = net.SplitHostPort(o.UI); err != nil {
		return nil, err
	}
	if _, s.ports.content, err = net.SplitHostPort(o.Content); err != nil {
		return nil, err
	}
	for _, from := range sources {
		from.token = "a" + strings.ToLower(rand.Text()[:16])
	}
	if name, err := os.Hostname(); err == nil && o.Public {
		s.names[strings.ToLower(name)] = true
	}
	return s, nil
}

// UI is the handler of the pages around the archive.
func (s *Server) UI() http.Handler {
	return s.guard(func(r *http.Request) bool { return s.ownHost(r.Host, s.ports.ui) }, s.serveUI)
}

// Content is the handler of what is kept.
func (s *Server) Content() http.Handler {
	return s.guard(func(r *http.Request) bool { return s.contentHost(r.Host) }, s.serveContent)
}

// guard lets through what a browser on our own pages asks for.
func (s *Server) guard(own func(*http.Request) bool, serve func(http.ResponseWriter, *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("X-DNS-Prefetch-Control", "off")
		h.Set("Cache-Control", "no-store")
		h.Set("Permissions-Policy", permissions)
		switch {
		case !own(r): // DNS rebinding: a stranger's name leads here
			refuse(w, http.StatusMisdirectedRequest, "this server answers under its own names only")
		case r.Header.Get("Origin") != "" && r.Header.Get("Origin") != "http://"+r.Host,
			r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
			refuse(w, http.StatusForbidden, "pages of other sites may not read this one")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "an archive is read only")
		case r.Header.Get("Service-Worker") != "":
			refuse(w, http.StatusForbidden, "no page of an archive installs a service worker")
		default:
			serve(w, r)
		}
	})
}

// refuse answers with a line of text.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	http.Error(w, why, status)
}

// redirect leads elsewhere. That of net/http cleans the paths of URLs away.
func redirect(w http.ResponseWriter, status int, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(status)
}

// ownHost says whether a Host is one of ours with that port.
func (s *Server) ownHost(host, port string) bool {
	name, p := splitHost(host)
	if p != port {
		return false
	}
	ip := net.ParseIP(name)
	return s.names[name] || ip != nil && (s.o.Public || ip.IsLoopback())
}

// contentHost says whether a Host is one that content is served under.
func (s *Server) contentHost(host string) bool {
	if s.o.Public {
		return s.ownHost(host, s.ports.content)
	}
	_, port := splitHost(host)
	return port == s.ports.content && s.sourceOf(host) != nil
}

// sourceOf is the archive whose origin a Host is; nil if all are served there.
func (s *Server) sourceOf(host string) *Source {
	name, _ := splitHost(host)
	for _, from := range s.sources {
		if name == from.token+".localhost" {
			return from
		}
	}
	return nil
}

// contentOrigin is the origin of an archive's content, as the one who asks for
// a page of the UI reaches it.
func (s *Server) contentOrigin(r *http.Request, from *Source) string {
	if !s.o.Public {
		return "http://" + from.token + ".localhost:" + s.ports.content
	}
	name, _ := splitHost(r.Host)
	return "http://" + net.JoinHostPort(name, s.ports.content)
}

// uiOrigins are the origins that a frame with content may stand in.
func (s *Server) uiOrigins(r *http.Request) string {
	if s.o.Public {
		name, _ := splitHost(r.Host)
		return "http://" + net.JoinHostPort(name, s.ports.ui)
	}
	return "http://127.0.0.1:" + s.ports.ui + " http://localhost:" + s.ports.ui
}

// uiOrigin is where a page of the UI is, for one who came to the content.
func (s *Server) uiOrigin(r *http.Request) string {
	origin, _, _ := strings.Cut(s.uiOrigins(r), " ")
	return origin
}

func splitHost(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
	}
	return strings.ToLower(name), port
}

// permissions takes from pages what reaches beyond them.
const permissions = "accelerometer=(), ambient-light-sensor=(), attribution-reporting=(), autoplay=(self), bluetooth=(), browsing-topics=(), camera=(), compute-pressure=(), " +
	"cross-origin-isolated=(), display-capture=(), encrypted-media=(), gamepad=(), geolocation=(), gyroscope=(), hid=(), identity-credentials-get=(), idle-detection=(), " +
	"join-ad-interest-group=(), local-fonts=(), magnetometer=(), microphone=(), midi=(), otp-credentials=(), payment=(), picture-in-picture=(), private-state-token-issuance=(), " +
	"publickey-credentials-create=(), publickey-credentials-get=(), run-ad-auction=(), screen-wake-lock=(), serial=(), shared-storage=(), storage-access=(), usb=(), web-share=(), window-management=(), xr-spatial-tracking=()"
