package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"curtsy/publish/catalog"
	"curtsy/publish/search"
	"curtsy/storage"
)

// texts keeps the index of an archive that is served up to date: what is new is
// read in the background, while pages are shown and searched already.
type texts struct {
	s    *shelf
	stop context.CancelFunc
	done chan struct{}

	mu      sync.Mutex
	reads   catalog.Progress // how far the first reading is
	ready   bool             // the first reading is done
	failed  error
	version int // of the index, by how often it was brought up to date

	using    sync.RWMutex     // held while searcher answers
	searcher *search.Searcher // of an edition
	of       *edition
	at       int // version
}

// followEvery is how often the archive is looked at for what is new; less often
// where that takes long, so that it costs a tenth of the time at most.
const (
	followEvery = 2 * time.Second
	restFactor  = 9
)

func followTexts(ctx context.Context, s *shelf) *texts {
	t := &texts{s: s, done: make(chan struct{})}
	ctx, t.stop = context.WithCancel(ctx)
	go func() {
		defer close(t.done)
		var read time.Time
		for {
			began := time.Now()
			if changed := s.changedAt(); !changed.Equal(read) {
				err := t.update(ctx)
				if ctx.Err() == nil && t.note(err) {
					read = changed
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(followEvery, restFactor*time.Since(began))):
			}
		}
	}()
	return t
}

// close waits for the reading to end.
func (t *texts) close() {
	t.stop()
	<-t.done
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
}

// update takes into the index what is new.
func (t *texts) update(ctx context.Context) (err error) {
	defer storage.Guard(&err)()
	e, err := t.s.take()
	if err != nil {
		return err
	}
	defer t.s.giveBack(e)
	if err := t.s.catalog.Refresh(ctx, e.Archive); err != nil {
		return err
	}
	o := searchOptions(t.s.u)
	o.Watch = func(p catalog.Progress) {
		t.mu.Lock()
		t.reads = p
		t.mu.Unlock()
	}
	return search.Update(ctx, t.s.catalog, e.Archive, o)
}

// note remembers how an update went, and says whether it is done with.
func (t *texts) note(err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(err, storage.ErrInUse) { // a crawl begins or ends
		return false
	}
	if err != nil && t.failed == nil {
		t.s.u.say("the search of %s is not up to date: %v", t.s.dir, err)
	}
	t.failed, t.ready, t.version = err, t.ready || err == nil, t.version+1
	return true
}

// find answers one query by what the index has.
func (t *texts) find(ctx context.Context, query string, skip, limit int) (hits []search.Hit, total int,
	note string, err error) {
	defer storage.Guard(&err)()
	e, err := t.s.take()
	if err != nil {
		return nil, 0, "", err
	}
	defer t.s.giveBack(e)
	x, note, err := t.open(ctx, e)
	if err != nil {
		return nil, 0, note, err
	}
	defer t.using.RUnlock()
	found, err := x.Search(ctx, search.Query{Text: query, Skip: skip, Limit: limit})
	return found.Hits, found.Total, note, err
}

// open is the search of an edition, to be unlocked after use; note says what is
// missing in it.
func (t *texts) open(ctx context.Context, e *edition) (x *search.Searcher, note string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.failed != nil:
		note = fmt.Sprintf("The index is not up to date: %v.", t.failed)
	case !t.ready:
		note = fmt.Sprintf("The index is being built: %d of %d texts are read.", t.reads.Done, t.reads.Total)
	}
	if t.searcher == nil || t.of != e || t.at != t.version || !t.ready {
		t.drop()
		if t.searcher, err = search.Attach(ctx, t.s.catalog, e.Archive, searchOptions(t.s.u)); err != nil {
			return nil, note, err
		}
		t.of, t.at = e, t.version
	}
	t.using.RLock()
	return t.searcher, note, nil
}

func (t *texts) drop() {
	t.using.Lock()
	defer t.using.Unlock()
	if t.searcher != nil {
		_ = t.searcher.Close() // nothing was written
	}
	t.searcher = nil
}
