package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"curtsy/fleet/engine"
	"curtsy/fleet/store"
)

const (
	// compareEvery is how often each worker checks that its store is the fleet's.
	compareEvery = time.Minute
	// listEvery is how often one worker compares the board with the list in the store. People
	// change both together; they differ only after lost responses.
	listEvery = time.Hour
	// compareAgain is the retry interval after a failure: without a list no site is due.
	compareAgain = 5 * time.Second
)

// Keys on the board: the name of the store, and the worker that lists it.
const (
	storeKey   = "store"
	listingKey = "listing"
)

// compare checks regularly that the store is the fleet's and, in turn with other workers, that
// the board agrees with the list in the store. It ends with ctx or the session.
func (w *Worker) compare(ctx context.Context) {
	for {
		err := w.same(ctx)
		if err == nil {
			err = w.list(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		w.compared(err)
		pause := compareEvery
		if err != nil {
			pause = compareAgain
		}
		select {
		case <-ctx.Done():
			return
		case <-w.session.Over():
			return
		case <-time.After(pause):
		}
	}
}

// compared records the result of a comparison for status and readyz.
func (w *Worker) compared(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	had := w.trouble.list
	w.trouble.list = ""
	if err == nil {
		return
	}
	if w.trouble.list = err.Error(); w.trouble.list != had {
		w.o.Logger.Error("the list of sites could not be compared with the store", "err", err)
	}
}

// listing says which worker lists the store, or listed it last.
type listing struct {
	Session string    `json:"session"`
	Done    bool      `json:"done"`
	Once    bool      `json:"once,omitempty"` // it was done before
	At      time.Time `json:"at"`
}

// list compares the board with the store if that is due: the last comparison is an hour old and
// no live session is doing it.
func (w *Worker) list(ctx context.Context) error {
	e, l := w.lastListing()
	now := w.o.Clock()
	switch {
	case w.o.Alone && !w.listed:
	case l.Done && now-e.Seen < listEvery:
		return nil
	case !l.Done && l.Session != w.session.ID() && w.session.Alive(l.Session):
		return nil
	}
	mine := listing{Session: w.session.ID(), Once: l.Done || l.Once}
	e, err := w.listing(ctx, e, mine)
	if errors.Is(err, engine.ErrConflict) { // another worker was first
		return nil
	}
	if err == nil {
		err = w.book.reconcile(ctx)
	}
	if err == nil || errors.Is(err, errEntry) {
		mine.Done = true
		_, noted := w.listing(ctx, e, mine)
		w.listed, err = true, errors.Join(err, noted)
	}
	return err
}

// lastListing returns the listing on the board, and its entry for a swap.
func (w *Worker) lastListing() (e engine.Entry, l listing) {
	e, ok := w.board.Entry(listingKey)
	if !ok {
		e = engine.Entry{Key: listingKey}
	}
	_ = json.Unmarshal(e.Value, &l) // missing or undecodable: list again
	return e, l
}

// filling reports whether the board is new and lacks part of the list.
func (w *Worker) filling() bool {
	_, l := w.lastListing()
	return !l.Done && !l.Once
}

func (w *Worker) listing(ctx context.Context, e engine.Entry, l listing) (engine.Entry, error) {
	l.At = w.o.Now().UTC()
	b, err := json.Marshal(l)
	if err != nil {
		return e, err
	}
	return w.board.Swap(ctx, e, b)
}

// identified checks at the start of a session that the store is the fleet's. A store that was
// never used gets a name; then no earlier claims can exist, and the board is opened at once.
func (w *Worker) identified(ctx context.Context) error {
	file := filepath.Join(w.o.Dir, "store.id")
	known, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(known) > 0 {
		w.storeID = string(known)
		err := w.same(ctx)
		if errors.Is(err, store.ErrUnmarked) || errors.Is(err, errOtherStore) {
			return err
		}
		return nil // the store is unreachable: the session waits for it
	}
	id, fresh, err := store.Mark(ctx, w.o.Store)
	if err != nil {
		return err
	}
	w.storeID = id
	if err := w.same(ctx); err != nil {
		return err
	}
	if fresh {
		if err := w.session.Open(ctx); err != nil {
			return err
		}
	}
	return w.kept("store.id", id)
}

var errOtherStore = errors.New("this is not the fleet's store")

// same checks that the store is the one known to this worker and the board.
func (w *Worker) same(ctx context.Context) error {
	id, err := store.Identify(ctx, w.o.Store)
	if err != nil {
		return err
	}
	e, ok := w.board.Entry(storeKey)
	if !ok {
		e, err = w.board.Swap(ctx, engine.Entry{Key: storeKey}, []byte(w.storeID))
		if err != nil && !errors.Is(err, engine.ErrConflict) {
			return err
		}
	}
	for _, want := range []string{w.storeID, string(e.Value)} {
		if want != id {
			return fmt.Errorf("%w: its name is %s, expected %s", errOtherStore, id, want)
		}
	}
	return nil
}

// previous returns the previous session of this worker. The lock on its directory, or the fact
// that it is the same process, shows that nothing of that session runs any more.
func (w *Worker) previous() string {
	b, err := os.ReadFile(filepath.Join(w.o.Dir, "session"))
	if err != nil {
		return "" // then it waits until its own claims expire
	}
	return strings.TrimSpace(string(b))
}

// kept writes a small file of the worker's directory atomically.
func (w *Worker) kept(name, text string) error {
	return replaceFile(filepath.Join(w.o.Dir, name), []byte(text))
}

// onDisk lists the sites whose archive is on this worker's disk.
func (w *Worker) onDisk() (names []string) {
	entries, err := os.ReadDir(filepath.Join(w.o.Dir, "work"))
	if err != nil {
		return nil // there are none
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ownedSuffix); ok && store.CheckName(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// tidy removes from the disk what a killed worker left beside the archives, and what was partly
// removed. Nothing may be running.
func (w *Worker) tidy() error {
	entries, err := os.ReadDir(w.work(""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	owned := w.onDisk()
	for _, e := range entries {
		if slices.Contains(owned, strings.TrimSuffix(e.Name(), ownedSuffix)) {
			continue
		}
		err = errors.Join(err, os.RemoveAll(w.work(e.Name())))
	}
	return err
}

// Lock locks a fleet's directory for this process.
func Lock(dir string) (release func(), err error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("curtsy fleet serve needs a Unix system")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, "fleet.lock"), flock.SetPermissions(0o600))
	if ok, err := l.TryLock(); err != nil || !ok {
		return nil, fmt.Errorf("%s: in use by another curtsy fleet serve", dir)
	}
	return func() { _ = l.Close() }, nil
}
