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

// Server is the page. Close ends everything that it started.
type Server struct {
	o     Options
	root  *os.Root
	lock  *flock.Flock
	guard *guard
	files *files
	langs map[string]*language

	memory *memory
	log    *slog.Logger
	now    func() time.Time

	ctx, stop    context.Context // of running commands; stop ends them gracefully
	drop, finish context.CancelFunc
	running      sync.WaitGroup
	mu           sync.Mutex
	archives     map[string]*archive
	looks        map[string]*look
	viewers      []*viewer // most recently used last
}

// ErrInUse means that another page has the folder open.
var ErrInUse = errors.New("the folder is in use by another curtsy app")

// lockFile is locked while a page has the folder open. The URL with its key is in addressFile,
// readable by the owner only.
const (
	lockFile    = ".curtsy-app.lock"
	addressFile = ".curtsy-app.url"
)

// Running returns the URL, with its key, of the page that has a folder open; "" if unknown.
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

// New opens a folder. Only one page can have it open.
func New(o Options) (*Server, error) {
	root, err := os.OpenRoot(o.Folder)
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, root: root, lock: flock.New(o.Folder + string(os.PathSeparator) + lockFile),
		now: time.Now, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		archives: map[string]*archive{}, looks: map[string]*look{}}
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

// First returns the URL to open, which includes the key. It is valid while the program runs.
// host is Name, or 127.0.0.1 for browsers that do not resolve Name.
func (s *Server) First(host string) string {
	return "http://" + net.JoinHostPort(host, s.guard.names.Port) + "/?key=" + s.guard.key
}

// Page returns the handler of the page.
func (s *Server) Page() http.Handler {
	return s.guard.protect(http.NewCrossOriginProtection().Handler(s.routes()), http.HandlerFunc(s.outside))
}

// Files returns the handler of exported files.
func (s *Server) Files() http.Handler {
	return localweb.Guard(s.files.access, http.HandlerFunc(s.files.serve))
}

// routes are the routes of the page. State changes are POST requests.
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

// Go continues what was running when the program last ended, and starts due updates. It returns
// when ctx ends or a person ends the program on the page, and then ends running commands
// gracefully.
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
		case <-s.stop.Done(): // by the page's quit button
			return
		case <-tick.C:
		}
	}
}

// patience is how long crawls may take to finish requests in flight.
const patience = 20 * time.Second

// Close lets crawls finish requests in flight, aborts the rest, and unlocks the folder.
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

// isTaken reports whether a name exists in the folder.
func (s *Server) isTaken(name string) bool {
	_, err := s.root.Lstat(name)
	return err == nil
}

// find returns an archive of the folder, or one being made; nil if there is none.
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

// of wraps a handler for the archive named in the path.
func (s *Server) of(answer func(http.ResponseWriter, *http.Request, *archive)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if a := s.find(r.PathValue("name")); a != nil {
			answer(w, r, a)
			return
		}
		s.lost(w, r)
	}
}

// isArchive reports whether a directory of the folder is an archive. Symbolic links are not
// followed, since they lead outside of the folder.
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

// errBusy means that another command is running for the archive.
var errBusy = errors.New("something else is being done with this archive: wait for it, or stop it")

// run starts a command for an archive.
func (s *Server) run(a *archive, w work) (*activity, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.doing != nil && !isDone(a.doing.done) {
		return nil, errBusy
	}
	a.doing = s.begin(a.name, w)
	return a.doing, nil
}
