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
	"slices"
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

// running is the run of a site on this worker.
type running struct {
	w    *Worker
	rec  Record
	gate *gate
	dir  string

	asked context.Context // done when the run should stop
	ask   context.CancelCauseFunc

	saved  time.Duration // by the worker's clock; this and the next field are guarded by the worker's mutex
	fenced bool          // another worker owns the site

	mu     sync.Mutex
	status status.Status
	told   store.Counts // the counts on the board

	archive *store.Archive
	state   store.Run
	prefix  string
}

func newRunning(w *Worker, rec Record, group *lease.Lease) *running {
	r := &running{w: w, rec: rec, dir: w.work(rec.Name), saved: w.o.Clock(),
		gate: &gate{session: w.session, board: w.board, site: rec.Name, places: w.o.Places, group: group,
			held: map[netip.Addr]*lease.Lease{}}}
	r.asked, r.ask = context.WithCancelCause(context.Background())
	return r
}

func (r *running) stop(why string) { r.ask(errors.New(why)) }

// run performs steps 2 to 5 of the package comment. It releases all claims at the end.
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
	if ended, err := r.own(ctx); err != nil || ended {
		return err
	}
	result, crawlErr := r.crawl(ctx)
	if err := r.gate.group.Check(); err != nil {
		return err // another worker may take the site: what is not saved is crawled again
	}
	r.note(result, crawlErr)
	if err := r.saveLast(ctx, crawlErr == nil); err != nil {
		return err
	}
	return r.finish(ctx)
}

// address takes a place at the site's address first. If the name does not resolve, the crawl
// will report that.
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

// own raises the epoch, and puts the archive that the manifest describes on this worker's disk:
// the local one if nobody owned the site since, otherwise a copy. If the manifest says that the
// run has ended (a report was lost, or this worker's list was outdated) or is damaged, own
// reports that and returns ended.
func (r *running) own(ctx context.Context) (ended bool, err error) {
	m, err := store.Load(ctx, r.w.o.Store, r.rec.Name)
	if errors.Is(err, store.ErrDamaged) {
		m = store.Manifest{Epoch: r.rec.Epoch, Run: r.rec.Run}
		now := latest(r.w.o.Now(), r.rec.Due).UTC()
		m.Run.Began, m.Run.Ended, m.Run.Ending, m.Run.Why, m.Run.Fails = now, now, endedFailed,
			err.Error(), m.Run.Fails+1
		return true, r.report(ctx, &m)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	if due := (&Record{Site: r.rec.Site, Run: m.Run, Due: r.rec.next(&m.Run)}); !due.isDue(r.w.o.Now()) {
		return true, r.report(ctx, &m)
	}
	run := store.Run{Began: latest(r.w.o.Now(), r.rec.Due).UTC(), Fails: max(m.Run.Fails, r.rec.Run.Fails)}
	if cutOff(&m.Run) {
		run.Round, run.Passes = m.Run.Round, m.Run.Passes
	}
	if r.archive, err = store.Claim(ctx, r.w.o.Store, r.rec.Name, r.rec.Seed, r.w.o.Name, run); err != nil {
		return false, err
	}
	if r.rec.Epoch > 0 && r.rec.Run.Ended.IsZero() {
		r.w.mu.Lock()
		r.w.takeovers++
		r.w.mu.Unlock()
	}
	m = r.archive.Manifest()
	r.mu.Lock()
	r.state, r.told = m.Run, m.Run.Counts
	r.mu.Unlock()
	if err := r.copied(ctx, &m); err != nil {
		return false, err
	}
	return false, r.w.book.change(ctx, r.rec.Name, func(rec *Record) { rec.Epoch, rec.Run = m.Epoch, m.Run })
}

// copied puts the archive of a manifest on this worker's disk.
func (r *running) copied(ctx context.Context, m *store.Manifest) error {
	o := readOwned(r.dir)
	if _, err := os.Stat(filepath.Join(r.dir, "crawl.db")); o.Epoch == m.Epoch-1 && (err == nil || m.DB == nil) {
		r.state.Passes = cmp.Or(o.Passes, r.state.Passes)
	} else {
		err := os.RemoveAll(r.dir)
		if err == nil && m.DB != nil {
			err = r.archive.Restore(ctx, r.dir)
		}
		if err != nil {
			return err
		}
	}
	return writeOwned(r.dir, owned{m.Epoch, r.state.Passes})
}

// owned is stored beside an archive: the epoch in which this worker owned it, and
// store.Run.Passes of the run.
type owned struct {
	Epoch  int64 `json:"epoch"`
	Passes *int  `json:"passes,omitempty"`
}

const ownedSuffix = ".owned"

func readOwned(dir string) owned {
	b, err := os.ReadFile(dir + ownedSuffix)
	var o owned
	if err != nil || json.Unmarshal(b, &o) != nil {
		return owned{Epoch: -1}
	}
	return o
}

func writeOwned(dir string, o owned) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return replaceFile(dir+ownedSuffix, b)
}

// replaceFile writes a small file atomically, and creates its directory.
func replaceFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", b, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// With many slow sites, each with its own archive, most work would be disk syncs and writes of
// status.json, so both are done less often. A worker that dies loses about a minute that was
// not saved, committed or not, and the status is asked of the worker.
const (
	commitEvery = 5 * time.Second
	statusEvery = 10 * time.Second
)

// crawl crawls until the end, until it is asked to stop, or until ctx is done.
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
	defer cancel() // before waiting
	saves.Go(func() { r.saveNowAndThen(ctx, cancel) })
	return r.rounds(ctx, &o)
}

// rounds crawls the site or, if it was completely crawled when the run began, updates it. If
// this run completed that before its worker died, nothing is left to do.
func (r *running) rounds(ctx context.Context, o *crawler.Options) (result crawler.Result, err error) {
	for first := true; ; first = false {
		c, err := crawler.Open(r.dir, *o)
		if err != nil {
			return result, err
		}
		if first && c.Finished() {
			had, err := r.passed(c)
			if had {
				result = crawler.Result{Ending: crawler.Done, Counts: c.Counts(), State: c.State()}
			}
			if err = errors.Join(err, c.Close()); err != nil || had {
				return result, err
			}
			o.Round = &revisit.Options{} // the crawl is opened again for a round
			continue
		}
		if _, err := r.passed(c); err != nil {
			return result, errors.Join(err, c.Close())
		}
		result, err = c.Run(ctx, r.asked)
		again := err == nil && result.Ending == crawler.Done && c.RoundOpen()
		if err = errors.Join(err, c.Close()); err != nil || !again {
			return result, err
		}
	}
}

// passed reports whether this run has already crawled the whole site. It records the number of
// complete crawls at the beginning of the run, if that is not recorded yet.
func (r *running) passed(c *crawler.Crawl) (bool, error) {
	s := c.State()
	n := len(s.Rounds)
	if c.Finished() {
		n++
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Passes != nil {
		return n > *r.state.Passes, nil
	}
	r.state.Passes, r.state.Round = &n, c.Finished()
	return false, writeOwned(r.dir, owned{r.archive.Manifest().Epoch, &n})
}

// saveNowAndThen saves during the crawl. It ends the crawl if the worker was fenced, or if the
// store has not been writable for so long that too much would be lost with this worker.
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
		err := r.save(ctx, func(ctx context.Context) error {
			return r.archive.Save(ctx, r.dir, r.prefix, state, false)
		})
		if errors.Is(err, store.ErrFenced) {
			r.w.o.Logger.Warn("another worker owns the site", "site", r.rec.Name)
			end()
			return
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		r.w.o.Logger.Warn("not saved; retrying later", "site", r.rec.Name, "err", err)
		if r.unsaved() > maxUnsaved*r.w.o.Save {
			r.stop("the store cannot be written")
		}
	}
}

// maxUnsaved is the number of save intervals without a save after which a crawl stops, since
// its results would be lost with this worker's disk.
const maxUnsaved = 10

// saveTimeout is the timeout of a save.
const saveTimeout = 10 * time.Minute

// save tries once to write to the store, and records the result.
func (r *running) save(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	err := do(ctx)
	r.w.wasSaved(r, err)
	return err
}

// note records how the run ended.
func (r *running) note(result crawler.Result, err error) {
	r.state.Ended = latest(r.w.o.Now(), r.state.Began).UTC()
	r.state.Ending, r.state.Why = result.Ending.String(), result.Why
	if why := context.Cause(r.asked); result.Ending == crawler.Stopped && why != nil {
		r.state.Why = why.Error()
	}
	if err != nil {
		r.state.Ending, r.state.Why = endedFailed, err.Error()
	} else {
		n := result.Counts
		r.state.Counts = store.Counts{Discovered: n.Discovered, Fetched: n.Fetched, Failed: n.Failed,
			Disregarded: n.Disregarded, Queued: n.Queued(), Bytes: result.State.Bytes}
	}
	r.state.Fails = failsAfter(&r.state, r.asked.Err() != nil)
}

// saveLast saves the results of the run, and retries as long as the store is unreachable. Of a
// failed crawl it only saves that it failed, since the archive on disk may be damaged and the
// saved one is not. If many runs end at once, they take turns after each try.
func (r *running) saveLast(ctx context.Context, sound bool) error {
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		err := r.lastTry(ctx, sound)
		if err == nil || errors.Is(err, store.ErrFenced) || ctx.Err() != nil {
			return err
		}
		r.w.o.Logger.Warn("not saved; retrying", "site", r.rec.Name, "in", pause, "err", err)
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

func (r *running) lastTry(ctx context.Context, sound bool) error {
	select {
	case r.w.saves <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.w.saves }()
	return r.save(ctx, func(ctx context.Context) error {
		if !sound {
			return r.archive.End(ctx, r.state)
		}
		return r.archive.Save(ctx, r.dir, r.prefix, r.state, true)
	})
}

// sleep returns false if ctx is done first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// finish removes what is no longer needed from store and disk, and reports.
func (r *running) finish(ctx context.Context) error {
	if _, err := r.archive.Sweep(ctx); err != nil {
		r.w.o.Logger.Warn("not swept", "site", r.rec.Name, "err", err)
	}
	// A partly removed directory must not be taken for the archive and saved.
	if err := os.Remove(r.dir + ownedSuffix); err != nil {
		return err
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return err
	}
	m := r.archive.Manifest()
	return r.report(ctx, &m)
}

// report copies the result of a run from the manifest to the board, with retries while the
// claim holds, since the engine may lack a leader for some seconds. If that fails, the worker
// that claims the site next reads it from the store.
func (r *running) report(ctx context.Context, m *store.Manifest) error {
	for pause := time.Second; ; pause = min(2*pause, 10*time.Second) {
		err := r.w.book.change(ctx, r.rec.Name, func(rec *Record) { rec.Epoch, rec.Run = m.Epoch, m.Run })
		if err == nil || errors.Is(err, ErrUnknown) {
			return err
		}
		r.w.o.Logger.Warn("the end of a run was not reported; retrying", "site", r.rec.Name, "in", pause, "err", err)
		if !sleep(ctx, pause) {
			return err
		}
	}
}

// latest returns the later of two times. No run begins before it was due or ends before it
// began, even if a clock was set meanwhile; otherwise a date of the schedule could occur twice.
func latest(x, y time.Time) time.Time { return slices.MaxFunc([]time.Time{x, y}, time.Time.Compare) }

// failsAfter counts consecutive failed runs; runs stopped by people do not count.
func failsAfter(run *store.Run, asked bool) int {
	if run.Ending == "finished" || run.Ending == "limited" || asked {
		return 0
	}
	return run.Fails + 1
}

// live returns the progress of the run. The caller holds the worker's lock.
func (r *running) live() Live {
	r.mu.Lock()
	s := r.status
	r.mu.Unlock()
	return Live{Fetched: s.Fetched, Failed: s.Failed, Queued: s.Queued, Bytes: s.Bytes,
		Unsaved: r.w.o.Clock() - r.saved, Words: inWords(&s)}
}

// brought returns the results of the run that are not on the board yet.
func (r *running) brought() (pages int, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.State == "" { // not started yet
		return 0, 0
	}
	return r.status.Fetched - r.told.Fetched, r.status.Bytes - r.told.Bytes
}

// inWords describes what a crawl is doing.
func inWords(s *status.Status) string {
	text := fmt.Sprintf("%d fetched, %d queued", s.Fetched, s.Queued)
	if s.WaitingFor != "" {
		text += "; it waits: " + s.WaitingFor
	}
	if until := s.Until(); !until.IsZero() {
		text += ", until " + at(until.Local())
	}
	if s.Delay != "" {
		text += "; pace: " + s.Delay
	}
	return text
}
