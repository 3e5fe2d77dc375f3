package replay

import (
	"context"
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
	UI, Content string // addresses that the two listeners have: "127.0.0.1:8600"
	NoScripts   bool   // pages are shown without running their scripts
	// Public answers under the machine's addresses and name, not under those of
	// loopback alone. Pages then have no origin of their own, but an opaque one.
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
	ports   struct{ ui, content localweb.Names }
	held    *semaphore.Weighted // octets of documents in memory

	comparing sync.Mutex // held while the copies of a round are compared
	compared  map[changesKey]*changesView

	opened  sync.Map     // address of the page that was opened last, by host
	reached atomic.Bool  // the content was asked for under a name below localhost
	probed  atomic.Int64 // when a browser was first shown a page that asks for it, in ns since 1970; 0: never
}

// probePath is what pages of the UI ask the content's origin for until it has
// been reached once: not every browser resolves names below localhost
// (RFC 6761 §6.3 asks it of them).
const probePath = "/reached"

// probePatience is how long the answer may take before the content is shown
// without an origin of its own.
const probePatience = 2 * time.Second

// opaque says whether pages are shown without an origin of their own.
func (s *Server) opaque() bool {
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
	return "http://" + s.sources[0].token + ".localhost:" + s.ports.content.Port + probePath
}

// asked notes when a browser is first shown a page of the UI, and so the probe:
// other programs load no pictures, and say nothing about the names it knows.
func (s *Server) asked(r *http.Request) {
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		s.probed.CompareAndSwap(0, s.now().UnixNano())
	}
}

// New makes a server for archives. The first of equals is shown.
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

// UI is the handler of the pages around the archive.
func (s *Server) UI() http.Handler {
	return localweb.Guard(func(r *http.Request) localweb.Access {
		if !s.ports.ui.Has(r.Host) {
			return localweb.Refused
		}
		s.asked(r)
		return localweb.Own
	}, s.reading(s.serveUI))
}

// Content is the handler of what is kept.
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

// access says how a request for content came: under the name of an archive, or
// below its token, where its origin is opaque.
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

// under is what the path of a page without an origin of its own begins with:
// "/TOKEN"; "" of all others.
func (s *Server) under(r *http.Request) string {
	for _, from := range s.sources {
		if _, ok := localweb.Below(from.token, target(r)); ok {
			return "/" + from.token
		}
	}
	return ""
}

// reading gives each request archives that are open while it is answered, and says what failed.
func (s *Server) reading(serve func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open := readings{}
		defer open.close()
		r = r.WithContext(context.WithValue(r.Context(), readingsKey{}, open))
		if err := serve(w, r); err != nil {
			s.failed(w, r, err)
		}
	})
}

// refuse answers with a line of text. It is no error to have answered so.
func refuse(w http.ResponseWriter, status int, why string) error {
	localweb.Refuse(w, status, legible.Text(why))
	return nil
}

// redirect leads elsewhere. That of net/http cleans the paths of URLs away.
func redirect(w http.ResponseWriter, status int, to string) error {
	w.Header().Set("Location", to)
	w.WriteHeader(status)
	return nil
}

// contentBase is where the content of an archive is, as the one who asks for a
// page of the UI reaches it.
func (s *Server) contentBase(r *http.Request, from *Source) string {
	if !s.opaque() {
		return "http://" + from.token + ".localhost:" + s.ports.content.Port
	}
	name, _ := localweb.SplitHost(r.Host)
	return "http://" + net.JoinHostPort(name, s.ports.content.Port) + "/" + from.token
}

// sandbox is what a frame with content may do: where the content has no origin of
// its own, it has none at all.
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

// uiOrigins are the origins that a frame with content may stand in.
func (s *Server) uiOrigins(r *http.Request) string {
	if s.o.Public {
		name, _ := localweb.SplitHost(r.Host)
		return "http://" + net.JoinHostPort(name, s.ports.ui.Port)
	}
	return "http://127.0.0.1:" + s.ports.ui.Port + " http://localhost:" + s.ports.ui.Port
}

// ancestors is the policy of who may frame content. An opaque origin is not 'self',
// so that there the token is what keeps others away.
func (s *Server) ancestors(r *http.Request) string {
	if s.under(r) != "" {
		return ""
	}
	return "frame-ancestors " + s.uiOrigins(r) + " 'self'; "
}

// uiOrigin is where a page of the UI is, for one who came to the content.
func (s *Server) uiOrigin(r *http.Request) string {
	origin, _, _ := strings.Cut(s.uiOrigins(r), " ")
	return origin
}
