package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"curtsy/crawler"
	"curtsy/fleet/engine"
	"curtsy/fleet/lease"
	"curtsy/fleet/store"
	"curtsy/internal/room"
)

// Options of a worker.
type Options struct {
	Name    string
	Dir     string // of the archives being crawled
	Store   store.Store
	Connect func() (*nats.Conn, error)
	Nodes   int           // number of servers of the engine, if this worker may create the board; 0: it may not
	Slots   int           // sites crawled concurrently; 0: none
	Places  int           // sites crawled concurrently at one address; 0: 1
	Term    time.Duration // of the session; 0: 30 s
	Save    time.Duration // interval between saves of an archive during its crawl; 0: a minute
	Tick    time.Duration // interval between checks for due sites; 0: 500 ms
	Alone   bool          // no other worker can be alive
	MinFree int64         // free octets on the disk below which no site is started
	// Crawl makes the options for the crawl of a site, including Site.Config.
	Crawl  func(Site) (crawler.Options, error)
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	Now    func() time.Time
	Clock  lease.Clock
	Logger *slog.Logger
}

// Worker crawls sites of a fleet. Run owns all its goroutines.
type Worker struct {
	o     Options
	board *engine.Board
	view

	mu                sync.Mutex
	running           map[string]*running
	later             map[string]postponed // sites that could not be started
	draining          bool
	takeovers, fenced int
	refuses           string // why it starts nothing; "" if it does
	trouble           trouble
	gauged            *view // for Gauges; nil without a session
	runs              sync.WaitGroup
	freed             chan struct{} // signals the end of a run
	saves             chan struct{} // limits concurrent last saves

	storeID string // the name of the store
	listed  bool   // this worker has compared the board with the store
}

// trouble describes problems with the store; "" for none.
type trouble struct {
	list  string
	save  string
	since time.Duration // when the first save failed, by the clock
}

// view gives access to the sites during a session.
type view struct {
	conn    *nats.Conn
	session *lease.Session
	book    *book
	places  int // sites crawled concurrently at one address
}

// maxLastSaves is the number of runs that are saved and reported concurrently at their ends.
const maxLastSaves = 16

// NewWorker makes a worker; Run starts it.
func NewWorker(o Options) *Worker {
	o.Places, o.Term = cmp.Or(o.Places, 1), cmp.Or(o.Term, 30*time.Second)
	o.Save, o.Tick = cmp.Or(o.Save, time.Minute), cmp.Or(o.Tick, 500*time.Millisecond)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Clock == nil {
		o.Clock = lease.Uptime()
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return &Worker{o: o, view: view{places: o.Places}, running: map[string]*running{},
		later: map[string]postponed{}, freed: make(chan struct{}, 1), saves: make(chan struct{}, maxLastSaves)}
}

// About is the description of a worker in its session.
type About struct {
	Slots    int    `json:"slots"`
	Running  int    `json:"running"`
	Draining bool   `json:"draining,omitempty"`
	Refuses  string `json:"refuses,omitempty"`
	Store    string `json:"store,omitempty"` // problem with the store
}

func (w *Worker) about() any {
	w.mu.Lock()
	defer w.mu.Unlock()
	trouble, _ := w.troubled()
	return About{w.o.Slots, len(w.running), w.draining, w.refuses, trouble}
}

// Run works until stop is done; then it stops, saves and releases its runs. When ctx is done,
// it drops them.
func (w *Worker) Run(ctx, stop context.Context) error {
	for {
		err := w.serve(ctx, stop)
		if stop.Err() != nil || ctx.Err() != nil {
			return nil
		}
		w.o.Logger.Warn("the session has ended; starting a new one", "worker", w.o.Name, "err", err)
		if !sleep(stop, time.Second) {
			return nil
		}
	}
}

// serve runs one session.
func (w *Worker) serve(ctx, stop context.Context) error {
	n, err := w.o.Connect()
	if err != nil {
		return err
	}
	defer n.Close()
	w.conn, w.book = n, newBook(w.o.Store, w.o.Name, w.o.Now)
	w.board, err = engine.OpenBoard(stop, n, engine.BoardOptions{Nodes: w.o.Nodes, Clock: w.o.Clock, Prefix: siteKey,
		Follow: w.book.follow})
	if err != nil {
		return err
	}
	defer w.board.Close()
	w.book.board = w.board
	w.session, err = lease.Begin(ctx, w.board, lease.Options{Worker: w.o.Name, Term: w.o.Term, Clock: w.o.Clock,
		Alone:    w.o.Alone,
		Previous: w.previous(), About: w.about, Logger: w.o.Logger})
	if err != nil {
		return err
	}
	defer w.end()
	if err := errors.Join(w.kept("session", w.session.ID()), w.identified(ctx)); err != nil {
		return err
	}
	now := w.view
	w.gauge(&now)
	defer w.gauge(nil)
	silent, err := w.answer(ctx, n)
	if err != nil {
		return err
	}
	defer silent()
	w.loop(ctx, stop)
	return w.session.Check()
}

// end waits for the runs, which stop when asked or when the session is over, and ends the
// session.
func (w *Worker) end() {
	w.runs.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	w.session.End(ctx)
}

// loop starts due sites, until stop is done or the session is over.
func (w *Worker) loop(ctx, stop context.Context) {
	comparing, cancel := context.WithCancel(ctx)
	defer cancel()
	w.runs.Go(func() { w.compare(comparing) })
	tick := time.NewTicker(w.o.Tick)
	defer tick.Stop()
	w.reclaim(ctx)
	for {
		w.begin(ctx)
		select {
		case <-stop.Done():
			w.stopAll("asked to stop")
			return
		case <-w.session.Over():
			return
		case <-tick.C:
		case <-w.freed:
		}
	}
}

// stopAll asks all runs to stop.
func (w *Worker) stopAll(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.running {
		r.stop(why)
	}
}

// begin stops runs that people no longer want, and starts due sites while there are slots and
// room.
func (w *Worker) begin(ctx context.Context) {
	w.unwanted()
	w.awake()
	w.book.unpark(w.blocked)
	for w.mayBegin() {
		e, r, ok := w.book.next()
		if !ok {
			return
		}
		if w.rests(e) {
			continue
		}
		if key := w.blocked(&r); key != "" {
			w.book.park(key, e)
			continue
		}
		w.try(ctx, r, e)
	}
}

// reclaim starts the sites on this worker's disk that it owned in the previous session; then it
// releases the other claims of that session.
func (w *Worker) reclaim(ctx context.Context) {
	if err := w.tidy(); err != nil {
		w.o.Logger.Warn("the working directory was not tidied", "err", err)
	}
	for _, name := range w.onDisk() {
		r, err := w.book.record(name)
		if err != nil || r.Paused || !r.isDue(w.o.Now()) || w.blocked(&r) != "" || !w.mayBegin() {
			continue
		}
		e, _, _ := w.book.entry(name)
		w.try(ctx, r, entry{name: name, rev: e.Rev, due: r.Due})
	}
	if err := w.session.ReleaseUnclaimed(ctx); err != nil {
		w.o.Logger.Info("the session before is left to run out", "err", err)
	}
}

// unwanted stops the runs of sites that are paused or removed.
func (w *Worker) unwanted() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, r := range w.running {
		if rec, err := w.book.record(name); err != nil {
			r.stop("removed from the list")
		} else if rec.Paused {
			r.stop("paused")
		}
	}
}

// awake queues sites whose postponement has ended.
func (w *Worker) awake() {
	clock := w.o.Clock()
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, later := range w.later {
		if later.until <= clock {
			delete(w.later, name)
			w.book.again(later.entry)
		}
	}
}

// mayBegin reports whether another site may start here, and records why not.
func (w *Worker) mayBegin() bool {
	disk := room.Check(w.o.Dir, w.o.MinFree)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.draining:
		w.refuses = "draining"
	case disk != nil:
		w.refuses = disk.Error()
	default:
		w.refuses = ""
	}
	return w.refuses == "" && len(w.running) < w.o.Slots
}

// blocked returns the claim of another worker that a site waits for; "" for none.
func (v *view) blocked(r *Record) string {
	if h, ok := v.session.Claim(groupKey(r.Group)); ok && h.Left > 0 {
		return h.Key
	}
	addr, err := netip.ParseAddr(r.Addr)
	if err != nil {
		return ""
	}
	for n := range v.places {
		if h, ok := v.session.Claim(placeKey(addr, n)); !ok || h.Left <= 0 {
			return ""
		}
	}
	return placeKey(addr, 0)
}

// rests reports whether a site is postponed.
func (w *Worker) rests(e entry) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.later[e.name]
	if ok {
		p.entry = e // may be of a later revision
		w.later[e.name] = p
	}
	return ok
}

// try claims a site and starts its run.
func (w *Worker) try(ctx context.Context, r Record, e entry) {
	if !r.isDue(w.o.Now()) { // the clock was set back
		w.postpone(e, nil)
		return
	}
	l, err := w.session.Acquire(ctx, groupKey(r.Group), r.Name)
	if err != nil {
		w.postpone(e, err)
		return
	}
	run := newRunning(w, r, l)
	w.mu.Lock()
	w.running[r.Name] = run
	w.mu.Unlock()
	w.runs.Go(func() {
		err := run.run(ctx)
		w.mu.Lock()
		delete(w.running, r.Name)
		w.mu.Unlock()
		if err != nil {
			w.postpone(e, err)
		}
		select {
		case w.freed <- struct{}{}:
		default:
		}
	})
}

// postponed is a site that is not tried for a while.
type postponed struct {
	entry entry
	until time.Duration // by the clock
}

// postpone leaves a site to other workers for a while.
func (w *Worker) postpone(e entry, err error) {
	var held *lease.HeldError
	pause := 10 * w.o.Tick
	switch {
	case err == nil, errors.As(err, &held), errors.Is(err, lease.ErrClosed):
		pause = 2 * w.o.Tick
	case errors.Is(err, ErrUnknown):
		w.o.Logger.Info("a site was removed from the list while it was crawled", "site", e.name)
	default:
		w.o.Logger.Warn("a run did not complete", "site", e.name, "err", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.later[e.name] = postponed{e, w.o.Clock() + pause}
}

func (w *Worker) work(name string) string { return filepath.Join(w.o.Dir, "work", name) }

// drain stops the runs and starts no more.
func (w *Worker) drain() {
	w.mu.Lock()
	w.draining = true
	w.mu.Unlock()
	w.stopAll("the worker is drained")
	w.o.Logger.Info(fmt.Sprintf("worker %s is drained", w.o.Name))
}
