package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/netip"
	"path/filepath"
	"slices"
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
	later             map[string]time.Duration // sites that could not be begun: not before then, by the clock
	draining          bool
	takeovers, fenced int
	refuses           string // why it begins nothing; "" where it does
	gauged            *view  // what Gauges reads; nil without a session
	runs              sync.WaitGroup
	freed             chan struct{} // a run has ended
	saves             chan struct{} // a token for each last save at a time
}

// view is what a session shows of the sites.
type view struct {
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
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Worker{o: o, view: view{places: o.Places}, running: map[string]*running{}, later: map[string]time.Duration{}, freed: make(chan struct{}, 1), saves: make(chan struct{}, maxLastSaves)}
}

// About is what a worker's session says of it.
type About struct {
	Slots    int    `json:"slots"`
	Running  int    `json:"running"`
	Draining bool   `json:"draining,omitempty"`
	Refuses  string `json:"refuses,omitempty"`
}

func (w *Worker) about() any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return About{w.o.Slots, len(w.running), w.draining, w.refuses}
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
		select {
		case <-stop.Done():
			return nil
		case <-time.After(time.Second):
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
	opening, cancel := context.WithTimeout(stop, time.Minute)
	defer cancel()
	if w.board, err = engine.OpenBoard(opening, n, w.o.Nodes, w.o.Clock); err != nil {
		return err
	}
	defer w.board.Close()
	w.book = newBook(w.o.Store, w.board, w.o.Now)
	w.session, err = lease.Begin(ctx, w.board, lease.Options{Worker: w.o.Name, Term: w.o.Term, Clock: w.o.Clock, Alone: w.o.Alone, About: w.about, Logger: w.o.Logger})
	if err != nil {
		return err
	}
	defer w.end()
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

// reconcileEvery is how often the board is compared with the store.
const reconcileEvery = time.Minute

// loop begins what is due, until stop is done or the session is over.
func (w *Worker) loop(ctx, stop context.Context) {
	tick := time.NewTicker(w.o.Tick)
	defer tick.Stop()
	var reconciled time.Duration
	first := true
	for {
		if now := w.o.Clock(); first || now-reconciled > reconcileEvery {
			if err := w.book.reconcile(ctx); err != nil {
				w.o.Logger.Warn("the list of sites could not be compared with the store", "err", err)
			}
			first, reconciled = false, w.o.Clock()
		}
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
	list := w.book.records()
	w.unwanted(list)
	if !w.mayBegin() {
		return
	}
	due := w.due(list)
	for _, r := range due {
		if !w.mayBegin() {
			return
		}
		w.try(ctx, r)
	}
}

// unwanted stops the runs of sites that are paused or gone.
func (w *Worker) unwanted(list []Record) {
	wanted := map[string]bool{}
	for _, r := range list {
		wanted[r.Name] = !r.Paused
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, r := range w.running {
		if !wanted[name] {
			r.stop("paused")
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

// due are the sites that may be begun, the longest due first; of those due at
// one time each worker begins with others.
func (w *Worker) due(list []Record) []Record {
	now, clock := w.o.Now(), w.o.Clock()
	list = slices.DeleteFunc(list, func(r Record) bool {
		w.mu.Lock()
		later, is := w.later[r.Name], w.running[r.Name]
		w.mu.Unlock()
		return is != nil || later > clock || !r.isDue(now) || w.blocked(&r) != ""
	})
	slices.SortFunc(list, func(x, y Record) int {
		return cmp.Or(x.Due.Truncate(time.Minute).Compare(y.Due.Truncate(time.Minute)), cmp.Compare(w.turn(x.Name), w.turn(y.Name)))
	})
	return list
}

// isDue asks the clock only where there is a date to wait for: what is due at
// once may have been so by a clock that was ahead.
func (r *Record) isDue(now time.Time) bool {
	atOnce := cutOff(&r.Run, r.Fails) || r.Run.Began.IsZero() && r.Cron == ""
	return !r.Paused && !r.Due.IsZero() && (atOnce || !r.Due.After(now))
}

func (w *Worker) turn(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(w.o.Name + "/" + name))
	return h.Sum32()
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

// try claims a site and begins its run.
func (w *Worker) try(ctx context.Context, r Record) {
	l, err := w.session.Acquire(ctx, groupKey(r.Group), r.Name)
	if err != nil {
		w.postpone(r.Name, err)
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
			w.postpone(r.Name, err)
		}
		select {
		case w.freed <- struct{}{}:
		default:
		}
	})
}

// postpone leaves a site to others for a moment.
func (w *Worker) postpone(name string, err error) {
	var held *lease.HeldError
	pause := 10 * w.o.Tick
	if errors.As(err, &held) || errors.Is(err, lease.ErrClosed) {
		pause = 2 * w.o.Tick
	} else {
		w.o.Logger.Warn("a run did not complete", "site", name, "err", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.later[name] = w.o.Clock() + pause
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
