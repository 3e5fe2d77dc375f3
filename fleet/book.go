package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"curtsy/fleet/engine"
	"curtsy/fleet/store"
)

// book is the list of sites. The store has what people want; the board has a copy of it with
// the state of each site; book has a copy of the board, indexed.
type book struct {
	store  store.Store
	board  *engine.Board
	worker string
	now    func() time.Time

	mu    sync.Mutex
	items map[string]*item // by name
	queue
	names   []string          // sorted; nil: must be rebuilt
	shares  map[string]int    // number of sites at an address
	configs map[string][]byte // interned, since many sites have the same
}

// item is a revision of a record.
type item struct {
	rev    uint64
	gone   bool
	record Record
}

func newBook(s store.Store, worker string, now func() time.Time) *book {
	return &book{store: s, worker: worker, now: now, items: map[string]*item{}, shares: map[string]int{},
		configs: map[string][]byte{}, queue: queue{parked: map[string][]entry{}}}
}

const (
	siteKey = "site."   // on the board
	listed  = ".sites/" // in the store
)

// Errors of the list.
var (
	ErrUnknown = errors.New("no such site in the fleet")
	ErrOther   = errors.New("a site of this name is already listed, with another seed")

	errEntry = errors.New("its entry in the list cannot be decoded")
)

// follow applies a revision of a record from the board.
func (b *book) follow(e engine.Entry, watched bool) {
	name := strings.TrimPrefix(e.Key, siteKey)
	b.mu.Lock()
	defer b.mu.Unlock()
	had := b.items[name]
	if had != nil && had.rev >= e.Rev {
		if watched && had.rev == e.Rev && had.gone {
			delete(b.items, name)
		}
		return
	}
	r, err := readRecord(e.Value, name)
	gone := e.Value == nil || err != nil
	b.indexed(had, &r, gone)
	if gone && watched {
		delete(b.items, name)
		return
	}
	if had == nil {
		had = &item{}
		b.items[name] = had
	}
	had.rev, had.gone, had.record = e.Rev, gone, r
	if !gone {
		b.enqueue(&r, e.Rev)
	}
}

// indexed updates the indexes for a new revision.
func (b *book) indexed(had *item, r *Record, gone bool) {
	was := had != nil && !had.gone
	if was != !gone {
		b.names = nil
	}
	if was && had.record.Addr != "" {
		if b.shares[had.record.Addr]--; b.shares[had.record.Addr] == 0 {
			delete(b.shares, had.record.Addr)
		}
	}
	if gone {
		return
	}
	if r.Addr != "" {
		b.shares[r.Addr]++
	}
	if kept, ok := b.configs[string(r.Config)]; ok {
		r.Config = kept
	} else if r.Config != nil {
		b.configs[string(r.Config)] = r.Config
	}
}

// sorted returns the sorted names of all sites. The caller holds the lock.
func (b *book) sorted() []string {
	if b.names == nil {
		b.names = make([]string, 0, len(b.items))
		for name, i := range b.items {
			if !i.gone {
				b.names = append(b.names, name)
			}
		}
		slices.Sort(b.names)
	}
	return b.names
}

// each calls f with the records whose names follow after, in order, until f returns false. The
// record must only be read, and only during the call.
func (b *book) each(after string, f func(*Record) bool) {
	b.mu.Lock()
	names := b.sorted()
	b.mu.Unlock()
	from, found := slices.BinarySearch(names, after)
	if found {
		from++
	}
	const together = 1000 // limits how long the lock is held
	for ; from < len(names); from += together {
		b.mu.Lock()
		for _, name := range names[from:min(from+together, len(names))] {
			if i := b.items[name]; i != nil && !i.gone && !f(&i.record) {
				b.mu.Unlock()
				return
			}
		}
		b.mu.Unlock()
	}
}

// sharing returns the number of sites at an address.
func (b *book) sharing(addr string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shares[addr]
}

func (b *book) record(name string) (Record, error) {
	_, r, ok := b.entry(name)
	if !ok {
		return r, fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	return r, nil
}

// known returns a record. If the board lacks it, because the engine was set up anew, it is read
// from the store first.
func (b *book) known(ctx context.Context, name string) (Record, error) {
	r, err := b.record(name)
	if err == nil || store.CheckName(name) != nil {
		return r, err
	}
	if err := b.recall(ctx, name); err != nil {
		return r, err
	}
	return b.record(name)
}

// entry returns the board entry of a record, for a swap; its revision is 0 if there is none.
func (b *book) entry(name string) (e engine.Entry, r Record, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.Key = siteKey + name
	if i := b.items[name]; i != nil && !i.gone {
		e.Rev = i.rev
		return e, i.record, true
	}
	return e, r, false
}

// addsAtOnce is the number of sites added concurrently, since each waits for the disk or
// network several times.
const addsAtOnce = 16

// addAll adds sites, and returns the number of new ones. After an error some may not be added.
func (b *book) addAll(ctx context.Context, sites []Site, given []string) (added int, err error) {
	var g errgroup.Group
	g.SetLimit(addsAtOnce)
	var n atomic.Int64
	for _, s := range sites {
		g.Go(func() error {
			isNew, err := b.add(ctx, s, given)
			if isNew && err == nil {
				n.Add(1)
			}
			return err
		})
	}
	err = g.Wait()
	return int(n.Load()), err
}

// add adds a site to the list, or changes the given parts of it; nil means all.
func (b *book) add(ctx context.Context, s Site, given []string) (isNew bool, err error) {
	if err := s.Check(); err != nil {
		return false, err
	}
	err = b.want(ctx, s.Name, func(had *Site) error {
		if isNew = had.Name == ""; isNew {
			s.Added = b.now().UTC()
			*had = s
			return nil
		}
		if had.Seed != s.Seed {
			return fmt.Errorf("%s: %w: %s", s.Name, ErrOther, had.Seed)
		}
		s.Added, s.Paused = had.Added, had.Paused
		if given != nil {
			s = had.with(&s, given)
		}
		*had = s
		return s.Check()
	})
	return isNew, err
}

// want changes what people want of a site, in the store and then on the board.
func (b *book) want(ctx context.Context, name string, change func(*Site) error) error {
	if err := store.CheckName(name); err != nil {
		return err
	}
	data, tag, err := b.store.Get(ctx, listed+name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	var s Site
	if err == nil {
		if err := json.Unmarshal(data, &s); err != nil {
			return fmt.Errorf("%s: %w: %w", name, errEntry, err)
		}
	}
	if err := change(&s); err != nil {
		return err
	}
	if data, err = json.Marshal(&s); err != nil {
		return err
	}
	if _, err := b.store.Swap(ctx, listed+name, data, tag); err != nil {
		return err
	}
	return b.note(ctx, s)
}

// pause pauses or resumes a site.
func (b *book) pause(ctx context.Context, name string, paused bool) error {
	return b.want(ctx, name, func(s *Site) error {
		if s.Name == "" {
			return fmt.Errorf("%s: %w", name, ErrUnknown)
		}
		s.Paused = paused
		return nil
	})
}

// remove removes a site from the list. Its archive stays.
func (b *book) remove(ctx context.Context, name string) error {
	if _, err := b.known(ctx, name); err != nil {
		return err
	}
	if err := b.store.Remove(ctx, listed+name); err != nil {
		return err
	}
	return b.drop(ctx, name)
}

// drop removes a site from the board, at whatever revision.
func (b *book) drop(ctx context.Context, name string) (err error) {
	for range 5 {
		e, _, ok := b.entry(name)
		if !ok {
			return nil
		}
		if err = b.board.Remove(ctx, e); !errors.Is(err, engine.ErrConflict) {
			return err
		}
		if _, ok, err := b.board.Fresh(ctx, e.Key); err != nil || !ok { // another worker has removed it
			return err
		}
	}
	return err
}

// note copies what people want of a site to the board.
func (b *book) note(ctx context.Context, s Site) error {
	if _, _, ok := b.entry(s.Name); ok {
		return b.change(ctx, s.Name, func(r *Record) { r.Site = s })
	}
	m, err := store.Load(ctx, b.store, s.Name)
	if errors.Is(err, store.ErrDamaged) { // the worker that crawls it reports the damage
		m, err = store.Manifest{}, nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	r := Record{Site: s, Epoch: m.Epoch, Run: m.Run}
	err = b.write(ctx, engine.Entry{Key: siteKey + s.Name}, &r)
	if errors.Is(err, engine.ErrConflict) {
		return nil // another worker has done it
	}
	return err
}

func (b *book) write(ctx context.Context, had engine.Entry, r *Record) error {
	r.Due, r.Stamp = r.next(&r.Run), rand.Text()
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = b.board.Swap(ctx, had, data)
	return err
}

// change changes a record on the board.
func (b *book) change(ctx context.Context, name string, change func(*Record)) error {
	for range 5 {
		e, r, ok := b.entry(name)
		if !ok {
			return fmt.Errorf("%s: %w", name, ErrUnknown)
		}
		change(&r)
		if err := b.write(ctx, e, &r); !errors.Is(err, engine.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", name, engine.ErrConflict)
}

// reconcile updates the board from the store: it adds sites that the board lacks, because it is
// new or a response was lost, and drops those not in the list. If the list lost most of its
// sites at once, it returns ShrunkError, since the cause is more likely an error such as an
// unmounted share. If entries cannot be decoded, it returns errEntry for one of them after all
// others are done.
func (b *book) reconcile(ctx context.Context) error {
	there := map[string]bool{}
	var undecoded atomic.Pointer[error]
	var recalls errgroup.Group
	recalls.SetLimit(addsAtOnce)
	for key, err := range b.store.List(ctx, listed) {
		if err != nil {
			return errors.Join(fmt.Errorf("list of sites: %w", err), recalls.Wait())
		}
		name := strings.TrimPrefix(key, listed)
		there[name] = true
		if _, err := b.record(name); err != nil {
			recalls.Go(func() error {
				err := b.recall(ctx, name)
				if errors.Is(err, errEntry) {
					undecoded.Store(&err)
					return nil
				}
				return err
			})
		}
	}
	if err := recalls.Wait(); err != nil {
		return err
	}
	var gone []string
	known := 0
	b.each("", func(r *Record) bool {
		if known++; !there[r.Name] {
			gone = append(gone, r.Name)
		}
		return true
	})
	if len(gone) > fewGone && len(gone) > known/10 || known > 0 && len(gone) == known {
		return &ShrunkError{Left: known - len(gone), Known: known}
	}
	for _, name := range gone {
		// It may have been added since the list was read.
		if _, _, err := b.store.Get(ctx, listed+name); err == nil {
			continue
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := b.drop(ctx, name); err != nil {
			return err
		}
	}
	if err := undecoded.Load(); err != nil {
		return *err
	}
	return nil
}

// fewGone is how many sites may disappear from the list in the store at a time. fleet remove
// does not count, since it removes sites from the board too.
const fewGone = 10

// ShrunkError means that the list in the store lacks most sites of the fleet.
type ShrunkError struct{ Left, Known int }

func (e *ShrunkError) Error() string {
	return fmt.Sprintf("the list in the store has %d of %d sites: nothing was removed; "+
		"restore it, or take sites off with curtsy fleet remove", e.Left, e.Known)
}

// recall copies a site from the list to the board. If it is removed from the list meanwhile, it
// is removed from the board again.
func (b *book) recall(ctx context.Context, name string) error {
	data, _, err := b.store.Get(ctx, listed+name)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var s Site
	if err := json.Unmarshal(data, &s); err != nil || s.Name != name {
		return errors.Join(fmt.Errorf("%s: %w", name, errEntry), err)
	}
	if err := b.note(ctx, s); err != nil {
		return err
	}
	if _, _, err := b.store.Get(ctx, listed+name); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return b.drop(ctx, name)
}
