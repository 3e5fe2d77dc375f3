package replay

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
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

	reached atomic.Bool  // the content was asked for under a name below localhost
	probed  atomic.Int64 // when a page first wanted it asked for, in ns since 1970; 0: never
}

// probePath is what pages of the UI ask the content's origin for until it has
// been reached once: not every browser resolves names below localhost
// (RFC 6761 §6.3 asks it of them).
const probePath = "/reached"

// probePatience is how long the answer may take before the content is served
// under the UI's own name, and all archives share one origin.
const probePatience = 2 * time.Second

// shared says whether all archives are served at one origin.
func (s *Server) shared() bool {
	if s.o.Public {
		return true
	}
	at := s.probed.Load()
	return at != 0 && !s.reached.Load() && s.now().Sub(time.Unix(0, at)) > probePatience
}

// probe is what a page of the UI loads to find out; "" if it is known.
func (s *Server) probe() string {
	if s.o.Public || s.reached.Load() || len(s.sources) == 0 {
		return ""
	}
	s.probed.CompareAndSwap(0, s.now().UnixNano())
	return "http://" + s.sources[0].token + ".localhost:" + s.ports.content + probePath
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
	serve := s.guard(func(r *http.Request) bool { return s.contentHost(r.Host) }, s.serveContent)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.contentHost(r.Host) && r.RequestURI == probePath {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		serve.ServeHTTP(w, r)
	})
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
			refuse(w, http.StatusMisdirectedRequest, "this server answers only to its own names")
		case r.Header.Get("Origin") != "" && r.Header.Get("Origin") != "http://"+r.Host,
			r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
			refuse(w, http.StatusForbidden, "pages of other sites may not read this page")
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "archives are read-only")
		case r.Header.Get("Service-Worker") != "":
			refuse(w, http.StatusForbidden, "pages of an archive may not install service workers")
		default:
			open := readings{}
			defer open.close()
			serve(w, r.WithContext(context.WithValue(r.Context(), readingsKey{}, open)))
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
	if _, port := splitHost(host); !s.o.Public && port == s.ports.content && s.isSource(host) {
		s.reached.Store(true)
		return true
	}
	return s.shared() && s.ownHost(host, s.ports.content)
}

// isSource says whether a Host is the origin of an archive.
func (s *Server) isSource(host string) bool {
	name, _ := splitHost(host)
	for _, from := range s.sources {
		if name == from.token+".localhost" {
			return true
		}
	}
	return false
}

// contentOrigin is the origin of an archive's content, as the one who asks for
// a page of the UI reaches it.
func (s *Server) contentOrigin(r *http.Request, from *Source) string {
	if !s.shared() {
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
