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
	Dir     string // of the archives that are being crawled
	Store   store.Store
	Connect func() (*nats.Conn, error)
	Nodes   int           // servers of the engine, where this worker may make the board; 0: it only joins
	Slots   int           // sites at a time; 0 is none
	Places  int           // sites at a time at one address; 0 is 1
	Term    time.Duration // of the session; 0 is 30 s
	Save    time.Duration // between two saves of an archive that is being crawled; 0 is a minute
	Tick    time.Duration // between two looks at the list; 0 is 500 ms
	Alone   bool          // no other worker can be alive
	MinFree int64         // octets of the disk that stay free: below, no site is begun
	// Crawl makes the options of a site's crawl; it reads Site.Config.
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
	later             map[string]postponed // sites that could not be begun
	draining          bool
	takeovers, fenced int
	refuses           string // why it begins nothing; "" where it does
	trouble           trouble
	gauged            *view // what Gauges reads; nil without a session
	runs              sync.WaitGroup
	freed             chan struct{} // a run has ended
	saves             chan struct{} // a token for each last save at a time

	storeID string // the name of the store
	listed  bool   // this worker has compared the board with the store
}

// trouble is what is wrong with the store, in words; "" where nothing is.
type trouble struct {
	list  string
	save  string
	since time.Duration // when the first save failed, by the clock
}

// view is what a session shows of the sites.
type view struct {
	conn    *nats.Conn
	session *lease.Session
	book    *book
	places  int // sites at a time at one address
}

// maxLastSaves is how many runs are saved and reported at a time at their ends.
const maxLastSaves = 16

// NewWorker makes a worker.
func NewWorker(o Options) *Worker {
	o.Places, o.Save, o.Tick = cmp.Or(o.Places, 1), cmp.Or(o.Save, time.Minute), cmp.Or(o.Tick, 500*time.Millisecond)
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

// About is what a worker's session says of it.
type About struct {
	Slots    int    `json:"slots"`
	Running  int    `json:"running"`
	Draining bool   `json:"draining,omitempty"`
	Refuses  string `json:"refuses,omitempty"`
	Store    string `json:"store,omitempty"` // what is wrong with it
}

func (w *Worker) about() any {
	w.mu.Lock()
	defer w.mu.Unlock()
	trouble, _ := w.troubled()
	return About{w.o.Slots, len(w.running), w.draining, w.refuses, trouble}
}

// Run works until stop is done: then what is running is stopped, saved and
// given up. When ctx is done, it is dropped.
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

// serve is one session.
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
	if err := errors.Join(w.remember(w.session.ID()), w.identified(ctx)); err != nil {
		return err
	}
	defer w.opened()()
	answers, err := w.answer(ctx, n)
	if err != nil {
		return err
	}
	defer answers.close()
	w.loop(ctx, stop)
	return w.session.Check()
}

// end waits for the runs, which stop as the session is over or they are asked
// to, and ends the session.
func (w *Worker) end() {
	w.runs.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	w.session.End(ctx)
}

// loop begins what is due, until stop is done or the session is over.
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

// begin stops what people no longer want, and begins what is due, as far as
// there are slots and room.
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

// reclaim begins what is on this worker's disk, and was its own when the session before
// ended; then it leaves the rest of what that one held to all.
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

// unwanted stops the runs of sites that are paused or gone.
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

// awake queues what was postponed until now.
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

// mayBegin says whether one more site may begin here, and notes why not.
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

// blocked says which claim of another a site waits for, "" for none.
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

// rests keeps back a site that was postponed.
func (w *Worker) rests(e entry) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.later[e.name]
	if ok {
		p.entry = e // perhaps of a later revision
		w.later[e.name] = p
	}
	return ok
}

// try claims a site and begins its run.
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

// postponed is a site that is not tried for a moment.
type postponed struct {
	entry entry
	until time.Duration // by the clock
}

// postpone leaves a site to others for a moment.
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

// drain lets the worker begin nothing more, and stops what runs.
func (w *Worker) drain() {
	w.mu.Lock()
	w.draining = true
	w.mu.Unlock()
	w.stopAll("the worker is drained")
	w.o.Logger.Info(fmt.Sprintf("worker %s is drained", w.o.Name))
}
