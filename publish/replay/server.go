package replay

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"curtsy/internal/legible"
	"curtsy/internal/localweb"
)

// Options of a server.
type Options struct {
	UI, Content string // addresses of the two listeners: "127.0.0.1:8600"
	NoScripts   bool   // show pages without running their scripts
	// Public serves under the machine's addresses and name rather than loopback names only.
	// Pages then have an opaque origin.
	Public bool
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: no logging
}

// Server replays archives.
type Server struct {
	o       Options
	sources []*Source
	now     func() time.Time
	log     *slog.Logger
	ports   struct{ ui, content localweb.Names }
	held    *semaphore.Weighted // memory for documents

	comparing sync.Mutex // held while a round is compared
	compared  map[changesKey]*changesView

	opened  sync.Map     // address of the page that was opened last, by host
	reached atomic.Bool  // content was requested under a name below localhost
	probed  atomic.Int64 // when a browser was first sent the probe, in Unix ns; 0: never
}

// probePath is an image on the content's origin that UI pages load until it was reached once.
// It tells whether the browser resolves names below localhost, as RFC 6761 §6.3 asks, but not
// all do.
const probePath = "/reached"

// probePatience is how long to wait for the probe before content is shown with an opaque
// origin.
const probePatience = 2 * time.Second

// opaque reports whether pages are shown with an opaque origin.
func (s *Server) opaque() bool {
	if s.o.Public {
		return true
	}
	at := s.probed.Load()
	return at != 0 && !s.reached.Load() && s.now().Sub(time.Unix(0, at)) > probePatience
}

// probe returns the URL of the probe for a UI page; "" if the answer is known.
func (s *Server) probe() string {
	if s.o.Public || s.reached.Load() || len(s.sources) == 0 {
		return ""
	}
	return "http://" + s.sources[0].token + ".localhost:" + s.ports.content.Port + probePath
}

// asked records when a browser is first sent a UI page with the probe. Programs that do not
// accept HTML load no images, so they are ignored.
func (s *Server) asked(r *http.Request) {
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.probed.CompareAndSwap(0, s.now().UnixNano())
	}
}

// New makes a server for archives. Of equal captures, that of the first archive is shown.
func New(sources []*Source, o Options) (*Server, error) {
	s := &Server{o: o, sources: sources, now: o.Now, log: o.Logger, held: semaphore.NewWeighted(maxHeld),
		compared: map[changesKey]*changesView{}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	var err error
	s.ports.ui.Public, s.ports.content.Public = o.Public, o.Public
	if _, s.ports.ui.Port, err = net.SplitHostPort(o.UI); err != nil {
		return nil, err
	}
	if _, s.ports.content.Port, err = net.SplitHostPort(o.Content); err != nil {
		return nil, err
	}
	for _, from := range sources {
		from.token = localweb.NewToken()
	}
	return s, nil
}

// UI returns the handler of the UI.
func (s *Server) UI() http.Handler {
	return localweb.Guard(func(r *http.Request) localweb.Access {
		if !s.ports.ui.Has(r.Host) {
			return localweb.Refused
		}
		s.asked(r)
		return localweb.Own
	}, s.reading(s.serveUI))
}

// Content returns the handler of the archived pages.
func (s *Server) Content() http.Handler {
	serve := localweb.Guard(s.access, s.reading(s.serveContent))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RequestURI == probePath && s.access(r) == localweb.Own {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		serve.ServeHTTP(w, r)
	})
}

// access classifies a request for content: on the origin of an archive, or below its token with
// an opaque origin.
func (s *Server) access(r *http.Request) localweb.Access {
	for _, from := range s.sources {
		if !s.o.Public && s.ports.content.IsOwn(r.Host, from.token) {
			s.reached.Store(true)
			return localweb.Own
		}
	}
	if s.ports.content.Has(r.Host) && s.under(r) != "" {
		return localweb.Opaque
	}
	return localweb.Refused
}

// under returns the path prefix of a page with an opaque origin, "/TOKEN"; otherwise "".
func (s *Server) under(r *http.Request) string {
	for _, from := range s.sources {
		if _, ok := localweb.Below(from.token, target(r)); ok {
			return "/" + from.token
		}
	}
	return ""
}

// reading keeps the archives of a request open while it is served, and reports errors.
func (s *Server) reading(serve func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, done := WithReadings(r.Context())
		defer done()
		r = r.WithContext(ctx)
		if err := serve(w, r); err != nil {
			s.failed(w, r, err)
		}
	})
}

// refuse answers with a line of text. It always returns nil, for use as a result.
func refuse(w http.ResponseWriter, status int, why string) error {
	localweb.Refuse(w, status, legible.Text(why))
	return nil
}

// redirect redirects to a URL. http.Redirect would clean its path.
func redirect(w http.ResponseWriter, status int, to string) error {
	w.Header().Set("Location", to)
	w.WriteHeader(status)
	return nil
}

// contentBase returns the base URL of an archive's content, for the client of a UI request.
func (s *Server) contentBase(r *http.Request, from *Source) string {
	if !s.opaque() {
		return "http://" + from.token + ".localhost:" + s.ports.content.Port
	}
	name, _ := localweb.SplitHost(r.Host)
	return "http://" + net.JoinHostPort(name, s.ports.content.Port) + "/" + from.token
}

// sandbox returns the sandbox flags of a frame with content: with an opaque origin, without
// allow-same-origin.
func (s *Server) sandbox(opaque bool) string {
	allowed := "allow-forms"
	if !opaque {
		allowed = "allow-same-origin " + allowed
	}
	if !s.o.NoScripts {
		allowed += " allow-scripts"
	}
	return allowed
}

// uiOrigins are the origins of the UI, which may frame content.
func (s *Server) uiOrigins(r *http.Request) string {
	if s.o.Public {
		name, _ := localweb.SplitHost(r.Host)
		return "http://" + net.JoinHostPort(name, s.ports.ui.Port)
	}
	return "http://127.0.0.1:" + s.ports.ui.Port + " http://localhost:" + s.ports.ui.Port
}

// ancestors returns the frame-ancestors policy of content. It is empty for opaque origins,
// which do not match 'self'; there the token keeps other sites out.
func (s *Server) ancestors(r *http.Request) string {
	if s.under(r) != "" {
		return ""
	}
	return "frame-ancestors " + s.uiOrigins(r) + " 'self'; "
}

// uiOrigin returns the UI's origin for a request to the content.
func (s *Server) uiOrigin(r *http.Request) string {
	origin, _, _ := strings.Cut(s.uiOrigins(r), " ")
	return origin
}
