package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"curtsy/internal/localweb"
)

// Server is the page. It owns what it began: Close ends it.
type Server struct {
	o     Options
	root  *os.Root
	lock  *flock.Flock
	guard *guard
	files *files
	langs *languages

	memory *memory
	log    *slog.Logger
	now    func() time.Time

	ctx, stop    context.Context // of what runs: stop lets it end well
	drop, finish context.CancelFunc
	running      sync.WaitGroup
	mu           sync.Mutex
	archives     map[string]*archive
	looks        map[string]*look
	viewers      []*viewer // the one that was asked for last is the last
}

// ErrInUse says that another page is open on the folder.
var ErrInUse = errors.New("the folder is in use by another curtsy app")

// lockFile is held as long as a page is open on the folder, whose first address is in
// addressFile, for its owner alone.
const (
	lockFile    = ".curtsy-app.lock"
	addressFile = ".curtsy-app.url"
)

// Running is the first address of the page that is open on a folder; "" is not known.
func Running(folder string) string {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return ""
	}
	defer root.Close()
	b, err := root.ReadFile(addressFile)
	if at := strings.TrimSpace(string(b)); err == nil && strings.HasPrefix(at, "http://"+Name+":") {
		return at
	}
	return ""
}

// New opens a folder; one page at a time may.
func New(o Options) (*Server, error) {
	root, err := os.OpenRoot(o.Folder)
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, root: root, lock: flock.New(o.Folder + string(os.PathSeparator) + lockFile),
		now: o.Now, log: o.Logger,
		archives: map[string]*archive{}, looks: map[string]*look{}}
	if s.now == nil {
		s.now = time.Now
	}
	s.log = cmp.Or(s.log, slog.New(slog.DiscardHandler))
	if ok, err := s.lock.TryLock(); err != nil || !ok {
		root.Close()
		return nil, cmp.Or(err, fmt.Errorf("%s: %w", o.Folder, ErrInUse))
	}
	if err := s.open(); err != nil {
		_ = s.lock.Unlock()
		root.Close()
		return nil, err
	}
	return s, nil
}

func (s *Server) open() (err error) {
	if s.memory, err = openMemory(s.root); err != nil {
		return err
	}
	_, page, err := net.SplitHostPort(s.o.Page)
	if err != nil {
		return err
	}
	if s.files, err = newFiles(s.root, s.o.Files); err != nil {
		return err
	}
	if s.langs, err = newLanguages(); err != nil {
		return err
	}
	s.guard = newGuard(page)
	if err := s.root.Remove(addressFile); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := s.root.WriteFile(addressFile, []byte(s.First(Name)+"\n"), 0o600); err != nil {
		return err
	}
	s.ctx, s.drop = context.WithCancel(context.Background())
	s.stop, s.finish = context.WithCancel(s.ctx)
	return nil
}

// First is the address to open first: it has the key, and is good as long as the
// program runs. host is Name, or 127.0.0.1 for a browser that does not find it.
func (s *Server) First(host string) string {
	return "http://" + net.JoinHostPort(host, s.guard.names.Port) + "/?key=" + s.guard.key
}

// Page is the handler of the page, Files of what was exported.
func (s *Server) Page() http.Handler {
	return s.guard.protect(http.NewCrossOriginProtection().Handler(s.routes()), http.HandlerFunc(s.outside))
}

// Files hands out what was exported.
func (s *Server) Files() http.Handler {
	return localweb.Guard(s.files.access, http.HandlerFunc(s.files.serve))
}

// routes are the page's addresses. What changes something is a POST.
func (s *Server) routes() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", s.shelf)
	m.HandleFunc("GET /search", s.search)
	m.HandleFunc("GET /new", s.newPage)
	m.HandleFunc("POST /look", s.beginLook)
	m.HandleFunc("GET /look/{id}", s.lookPage)
	m.HandleFunc("GET /look/{id}/events", s.lookEvents)
	m.HandleFunc("POST /look/{id}", s.start)
	m.HandleFunc("GET /a/{name}", s.of(s.archivePage))
	m.HandleFunc("GET /a/{name}/events", s.of(s.events))
	m.HandleFunc("GET /a/{name}/picture", s.of(s.picture))
	m.HandleFunc("GET /a/{name}/browse", s.of(s.browse))
	m.HandleFunc("GET /a/{name}/copy", s.of(s.browseCopy))
	m.HandleFunc("GET /a/{name}/skipped", s.table("Left out by a rule", skipped, "list"))
	m.HandleFunc("GET /a/{name}/explain", s.of(s.explain))
	m.HandleFunc("GET /a/{name}/changes", s.table("What changed", changed, "changes"))
	m.HandleFunc("GET /a/{name}/broken", s.table("Broken links", broken, "links", "--broken"))
	m.HandleFunc("GET /a/{name}/audit", s.table("Audit", audited, "audit"))
	m.HandleFunc("GET /a/{name}/delete", s.of(s.askDelete))
	m.HandleFunc("POST /a/{name}/{action}", s.of(s.act))
	m.HandleFunc("POST /language", s.setLanguage)
	m.HandleFunc("POST /quit", s.quit)
	m.HandleFunc("GET /static/{file}", s.static)
	m.HandleFunc("/", s.lost)
	return m
}

// Go continues what ran when the last program ended, and visits sites again when
// they are due, until the context ends, or a person ends the program on the page.
// Then it lets what runs end well.
func (s *Server) Go(ctx context.Context) {
	s.continueAll()
	tick := time.NewTicker(dueEvery)
	defer tick.Stop()
	for {
		s.visitDue()
		select {
		case <-ctx.Done():
			s.finish()
			return
		case <-s.stop.Done(): // by its own button
			return
		case <-tick.C:
		}
	}
}

// patience is how long crawls may take to finish what is in flight.
const patience = 20 * time.Second

// Close lets crawls finish what is in flight, drops the rest, and gives the folder
// free.
func (s *Server) Close() error {
	s.finish()
	s.stopViewers("")
	ended := make(chan struct{})
	go func() { s.running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(patience):
	}
	s.drop()
	<-ended
	_ = s.root.Remove(addressFile) // the next page writes its own
	return errors.Join(s.root.Close(), s.lock.Unlock())
}

// isTaken says whether there is something of that name in the folder.
func (s *Server) isTaken(name string) bool {
	_, err := s.root.Lstat(name)
	return err == nil
}

// find is an archive of the folder, or one that is being made; nil is none.
func (s *Server) find(name string) *archive {
	if !isName(name) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.archives[name]
	if !s.isArchive(name) && (a == nil || a.doing == nil) {
		return nil
	}
	if a == nil {
		a = &archive{name: name}
		s.archives[name] = a
	}
	return a
}

// of answers about the archive that an address names.
func (s *Server) of(answer func(http.ResponseWriter, *http.Request, *archive)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if a := s.find(r.PathValue("name")); a != nil {
			answer(w, r, a)
			return
		}
		s.lost(w, r)
	}
}

// isArchive says whether a directory of the folder holds an archive. What a symbolic
// link leads to lies elsewhere.
func (s *Server) isArchive(name string) bool {
	st, err := s.root.Lstat(name)
	if err != nil || !st.IsDir() {
		return false
	}
	for _, part := range []string{"crawl.db", "warc"} {
		if _, err := s.root.Stat(name + "/" + part); err == nil {
			return true
		}
	}
	return false
}

// errBusy says that something else is being done with an archive.
var errBusy = errors.New("something else is being done with this archive: wait for it, or stop it")

// run begins a command for an archive.
func (s *Server) run(a *archive, w work) (*activity, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.doing != nil && !isDone(a.doing.done) {
		return nil, errBusy
	}
	a.doing = s.begin(a.name, w)
	return a.doing, nil
}
