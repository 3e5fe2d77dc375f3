package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/fleet/lease"
	"curtsy/fleet/store"
	"curtsy/internal/weburl"
)

// running is the run of one site by this worker.
type running struct {
	w    *Worker
	rec  Record
	gate *gate
	dir  string

	asked context.Context // done when it is to stop
	ask   context.CancelCauseFunc

	saved  time.Duration // by the worker's clock; this and the next are guarded by its mutex
	fenced bool          // another owns the site

	mu     sync.Mutex
	status status.Status

	archive *store.Archive
	state   store.Run
	prefix  string
}

func newRunning(w *Worker, rec Record, group *lease.Lease) *running {
	r := &running{w: w, rec: rec, dir: w.work(rec.Name), saved: w.o.Clock(),
		gate: &gate{session: w.session, board: w.board, site: rec.Name, places: w.o.Places, group: group, held: map[netip.Addr]*lease.Lease{}}}
	r.asked, r.ask = context.WithCancelCause(context.Background())
	return r
}

func (r *running) stop(why string) { r.ask(errors.New(why)) }

// run is 2 to 5 of the flow. All claims are given up at its end.
func (r *running) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.gate.group.Lost(), cancel)()
	defer func() {
		free, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, r.gate.release(free))
	}()
	if err := r.address(ctx); err != nil {
		return err
	}
	if err := r.own(ctx); err != nil {
		return err
	}
	result, crawlErr := r.crawl(ctx)
	if err := r.gate.group.Check(); err != nil {
		return err // another may have it: what is not saved is crawled again
	}
	r.note(result, crawlErr)
	r.w.saves <- struct{}{} // when all are stopped at once, they take turns
	defer func() { <-r.w.saves }()
	if crawlErr == nil { // else what is on the disk may be damaged, and what was saved is not
		if err := r.saveLast(ctx); err != nil {
			return err
		}
	}
	return r.report(ctx)
}

// address takes a place at the site's address before anything is begun. Where
// the name does not resolve, the crawl finds that out.
func (r *running) address(ctx context.Context) error {
	u, err := weburl.Parse(r.rec.Seed)
	if err != nil {
		return err
	}
	addr, ok := r.lookup(ctx, u)
	if !ok {
		return nil
	}
	if text := addr.String(); text != r.rec.Addr {
		r.rec.Addr = text
		if err := r.w.book.change(ctx, r.rec.Name, func(rec *Record) { rec.Addr = text }); err != nil {
			return err
		}
	}
	_, err = r.gate.take(ctx, addr)
	return err
}

func (r *running) lookup(ctx context.Context, u weburl.URL) (netip.Addr, bool) {
	host := strings.Trim(u.Hostname(), "[]")
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap(), true
	}
	if r.w.o.Lookup == nil {
		return netip.Addr{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := r.w.o.Lookup(ctx, host)
	if err != nil || len(list) == 0 {
		return netip.Addr{}, false
	}
	return list[0].Unmap(), true
}

// own raises the epoch, and makes the archive that the manifest names this
// worker's: the one on its disk if nobody owned the site since, else a copy.
func (r *running) own(ctx context.Context) error {
	began := latest(r.w.o.Now(), r.rec.Due).UTC()
	a, err := store.Claim(ctx, r.w.o.Store, r.rec.Name, r.rec.Seed, r.w.o.Name, store.Run{Began: began})
	if err != nil {
		return err
	}
	if r.rec.Epoch > 0 && r.rec.Run.Ended.IsZero() {
		r.w.tookOver()
	}
	r.archive, r.state = a, a.Manifest().Run
	m := a.Manifest()
	if ownedEpoch(r.dir) != m.Epoch-1 {
		if err := os.RemoveAll(r.dir); err != nil {
			return err
		}
		if m.DB != nil {
			err = store.Restore(ctx, r.w.o.Store, &m, r.dir)
		}
		if err != nil {
			return err
		}
	}
	if err := setOwned(r.dir, m.Epoch); err != nil {
		return err
	}
	return r.w.book.change(ctx, r.rec.Name, func(rec *Record) { rec.Epoch, rec.Run = m.Epoch, m.Run })
}

// owned is a file beside an archive: the epoch in which it was this machine's.
type owned struct {
	Epoch int64 `json:"epoch"`
}

func ownedEpoch(dir string) int64 {
	b, err := os.ReadFile(dir + ".owned")
	var o owned
	if err != nil || json.Unmarshal(b, &o) != nil {
		return -1
	}
	return o.Epoch
}

func setOwned(dir string, epoch int64) error {
	b, err := json.Marshal(owned{epoch})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	fresh := dir + ".owned.new"
	if err := os.WriteFile(fresh, b, 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, dir+".owned")
}

// Of many sites at a slow pace, each with its own archive, most of the work would be
// syncs of the disk and status.json. A worker that dies loses what was not saved,
// a minute of it, whatever was committed; status is asked of the worker.
const (
	commitEvery = 5 * time.Second
	statusEvery = 10 * time.Second
)

// crawl crawls until the end, or until it is asked to stop or ctx is done.
func (r *running) crawl(ctx context.Context) (crawler.Result, error) {
	o, err := r.w.o.Crawl(r.rec.Site)
	if err != nil {
		return crawler.Result{}, err
	}
	r.prefix = r.archive.Prefix(cmp.Or(o.Archive.Prefix, "curtsy"))
	o.Archive.Prefix, o.Gate = r.prefix, r.gate.ask
	o.CommitEvery, o.StatusEvery = commitEvery, statusEvery
	o.Watch = func(s status.Status) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.status = s
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var saves sync.WaitGroup
	defer saves.Wait()
	defer cancel() // before it waits
	saves.Go(func() { r.saveNowAndThen(ctx, cancel) })
	return r.rounds(ctx, &o)
}

// rounds crawls, or visits again where the crawl is finished.
func (r *running) rounds(ctx context.Context, o *crawler.Options) (result crawler.Result, err error) {
	for turn := 0; ; turn++ {
		c, err := crawler.Open(r.dir, *o)
		if err != nil {
			return result, err
		}
		if turn == 0 && c.Finished() {
			o.Round = &revisit.Options{}
			r.mu.Lock()
			r.state.Round = true
			r.mu.Unlock()
			if err := c.Close(); err != nil {
				return result, err
			}
			continue
		}
		result, err = c.Run(ctx, r.asked)
		again := err == nil && result.Ending == crawler.Done && c.RoundOpen()
		if err = errors.Join(err, c.Close()); err != nil || !again {
			return result, err
		}
	}
}

// saveNowAndThen saves while the crawl runs. One that is fenced ends the crawl.
func (r *running) saveNowAndThen(ctx context.Context, end context.CancelFunc) {
	tick := time.NewTicker(r.w.o.Save)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		r.mu.Lock()
		state := r.state
		r.mu.Unlock()
		err := r.archive.Save(ctx, r.dir, r.prefix, state, false)
		r.w.wasSaved(r, err)
		if errors.Is(err, store.ErrFenced) {
			r.w.o.Logger.Warn("another worker owns the site", "site", r.rec.Name)
			end()
			return
		}
		if err != nil && ctx.Err() == nil {
			r.w.o.Logger.Warn("not saved; retrying later", "site", r.rec.Name, "err", err)
		}
	}
}

// note takes down how the run ended.
func (r *running) note(result crawler.Result, err error) {
	r.state.Ended = latest(r.w.o.Now(), r.state.Began).UTC()
	r.state.Ending, r.state.Why = result.Ending.String(), result.Why
	if why := context.Cause(r.asked); result.Ending == crawler.Stopped && why != nil {
		r.state.Why = why.Error()
	}
	if err != nil {
		r.state.Ending, r.state.Why = endedFailed, err.Error()
		return
	}
	n := result.Counts
	r.state.Counts = store.Counts{Discovered: n.Discovered, Fetched: n.Fetched, Failed: n.Failed, Disregarded: n.Disregarded, Queued: n.Queued(), Bytes: result.State.Bytes}
}

// saveLast saves what the run has brought, however long the store is away.
func (r *running) saveLast(ctx context.Context) error {
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		err := r.archive.Save(ctx, r.dir, r.prefix, r.state, true)
		r.w.wasSaved(r, err)
		if err == nil || errors.Is(err, store.ErrFenced) || ctx.Err() != nil {
			return err
		}
		r.w.o.Logger.Warn("not saved; retrying", "site", r.rec.Name, "in", pause, "err", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// report brings the end of the run to the board, and leaves the disk as it was.
func (r *running) report(ctx context.Context) error {
	if _, err := r.archive.Sweep(ctx); err != nil {
		r.w.o.Logger.Warn("not swept", "site", r.rec.Name, "err", err)
	}
	if err := errors.Join(os.RemoveAll(r.dir), os.Remove(r.dir+".owned")); err != nil {
		return err
	}
	m := r.archive.Manifest()
	return r.w.book.change(ctx, r.rec.Name, func(rec *Record) {
		rec.Epoch, rec.Run = m.Epoch, r.state
		rec.Fails = failsAfter(rec.Fails, &r.state, r.asked.Err() != nil)
	})
}

// latest is the later of two times. No run begins before it was due, and none
// ends before it began, whatever a clock was set to meanwhile: else one date of
// a schedule would come twice.
func latest(x, y time.Time) time.Time {
	if x.Before(y) {
		return y
	}
	return x
}

// failsAfter counts runs that failed: not those that people stopped.
func failsAfter(fails int, run *store.Run, asked bool) int {
	switch {
	case run.Ending == "finished" || run.Ending == "limited" || asked:
		return 0
	default:
		return fails + 1
	}
}

// inWords is what a run does right now.
func (r *running) inWords() string {
	r.mu.Lock()
	s := r.status
	r.mu.Unlock()
	text := fmt.Sprintf("%d fetched, %d queued", s.Fetched, s.Queued)
	if s.WaitingFor != "" {
		text += "; it waits: " + s.WaitingFor
	}
	if s.NextDue != nil && !strings.Contains(s.WaitingFor, "until ") { // as a Visit-time says itself
		text += ", until " + at(s.NextDue.Local())
	}
	if s.Delay != "" {
		text += "; pace: " + s.Delay
	}
	return text
}
