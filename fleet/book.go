package fleet

import (
	"cmp"
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

// book is the list of sites: in the store, what people want; on the board, a
// copy of it with how it goes.
type book struct {
	store store.Store
	board *engine.Board
	now   func() time.Time

	mu   sync.Mutex
	read map[string]readAt // by name: reading ten thousand records takes longer than comparing their revisions
}

// readAt is a record as it was read of a revision.
type readAt struct {
	rev    uint64
	record Record
}

func newBook(s store.Store, b *engine.Board, now func() time.Time) *book {
	return &book{store: s, board: b, now: now, read: map[string]readAt{}}
}

const (
	siteKey = "site."   // on the board
	listed  = ".sites/" // in the store
)

// Errors of the list.
var (
	ErrUnknown = errors.New("no such site in the fleet")
	ErrOther   = errors.New("a site of this name is already listed, with another seed")
)

// records lists all sites by name.
func (b *book) records() (list []Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entries := b.board.List(siteKey)
	slices.SortFunc(entries, func(x, y engine.Entry) int { return cmp.Compare(x.Key, y.Key) }) // smaller than records
	list = make([]Record, 0, len(entries))
	for _, e := range entries {
		had, ok := b.read[e.Key]
		if !ok || had.rev != e.Rev {
			r, err := readRecord(e.Value)
			if err != nil {
				continue
			}
			had = readAt{e.Rev, r}
			b.read[e.Key] = had
		}
		list = append(list, had.record)
	}
	return list
}

func (b *book) record(name string) (Record, error) {
	e, ok := b.board.Entry(siteKey + name)
	if !ok {
		return Record{}, fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	return readRecord(e.Value)
}

// addsAtOnce is how many sites are added side by side: each waits for the disk, or
// for the network, some times.
const addsAtOnce = 16

// addAll adds sites, and counts those that are new. With an error some may not be
// added.
func (b *book) addAll(ctx context.Context, sites []Site) (added int, err error) {
	var g errgroup.Group
	g.SetLimit(addsAtOnce)
	var n atomic.Int64
	for _, s := range sites {
		g.Go(func() error {
			isNew, err := b.add(ctx, s)
			if isNew && err == nil {
				n.Add(1)
			}
			return err
		})
	}
	err = g.Wait()
	return int(n.Load()), err
}

// add puts a site on the list, or changes its schedule and configuration.
func (b *book) add(ctx context.Context, s Site) (isNew bool, err error) {
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
		*had = s
		return nil
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
			return fmt.Errorf("%s: the list cannot be decoded: %w", name, err)
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

// pause stops a site being crawled, or lets it be.
func (b *book) pause(ctx context.Context, name string, paused bool) error {
	return b.want(ctx, name, func(s *Site) error {
		if s.Name == "" {
			return fmt.Errorf("%s: %w", name, ErrUnknown)
		}
		s.Paused = paused
		return nil
	})
}

// remove takes a site off the list. Its archive stays.
func (b *book) remove(ctx context.Context, name string) error {
	if _, err := b.record(name); err != nil {
		return err
	}
	if err := b.store.Remove(ctx, listed+name); err != nil {
		return err
	}
	return b.board.Remove(ctx, siteKey+name)
}

// note brings what people want of a site to the board.
func (b *book) note(ctx context.Context, s Site) error {
	if _, ok := b.board.Entry(siteKey + s.Name); ok {
		return b.change(ctx, s.Name, func(r *Record) { r.Site = s })
	}
	m, err := store.Load(ctx, b.store, s.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	r := Record{Site: s, Epoch: m.Epoch, Run: m.Run}
	err = b.write(ctx, engine.Entry{Key: siteKey + s.Name}, &r)
	if errors.Is(err, engine.ErrConflict) {
		return nil // another has just done it
	}
	return err
}

func (b *book) write(ctx context.Context, had engine.Entry, r *Record) error {
	r.Due, r.Stamp = r.next(&r.Run, r.Fails), rand.Text()
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
		e, ok := b.board.Entry(siteKey + name)
		if !ok {
			return fmt.Errorf("%s: %w", name, ErrUnknown)
		}
		r, err := readRecord(e.Value)
		if err != nil {
			return err
		}
		change(&r)
		if err = b.write(ctx, e, &r); !errors.Is(err, engine.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", name, engine.ErrConflict)
}

// reconcile makes the board what the store says: sites that it does not know,
// since it is new or an answer was lost, and those that are gone.
func (b *book) reconcile(ctx context.Context) error {
	there := map[string]bool{}
	for o, err := range b.store.List(ctx, listed) {
		if err != nil {
			return fmt.Errorf("list of sites: %w", err)
		}
		name := strings.TrimPrefix(o.Key, listed)
		there[name] = true
		if _, ok := b.board.Entry(siteKey + name); ok {
			continue
		}
		if err := b.recall(ctx, name); err != nil {
			return err
		}
	}
	for _, r := range b.records() {
		if there[r.Name] {
			continue
		}
		// It may have been added since the list was read.
		if _, _, err := b.store.Get(ctx, listed+r.Name); err == nil {
			continue
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := b.board.Remove(ctx, siteKey+r.Name); err != nil {
			return err
		}
	}
	return nil
}

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
		return fmt.Errorf("%s: the list cannot be decoded: %w", name, err)
	}
	return b.note(ctx, s)
}
