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

// texts keeps the index of a served archive up to date: new texts are indexed in the
// background, while pages are already served and searched.
type texts struct {
	s    *shelf
	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	reads  catalog.Progress // progress of the first update
	ready  bool             // the first update is done
	failed error
}

// followEvery is the interval of checks for new visits. If an update takes long, the pause is
// restFactor times as long, so that updates take at most a tenth of the time.
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

// close stops the updates and waits for their end.
func (t *texts) close() {
	t.stop()
	<-t.done
}

// update adds new texts to the index.
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

// note records the result of an update, and reports whether it is complete.
func (t *texts) note(err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(err, storage.ErrInUse) { // a crawl is starting or ending
		return false
	}
	if err != nil && t.failed == nil {
		t.s.u.say("the search of %s is not up to date: %v", t.s.dir, err)
	}
	t.failed, t.ready = err, t.ready || err == nil
	return true
}

// find answers a query from the current index.
func (t *texts) find(ctx context.Context, query string, skip, limit int) (hits []search.Hit, total int,
	note string, err error) {
	defer storage.Guard(&err)()
	e, err := t.s.take()
	if err != nil {
		return nil, 0, "", err
	}
	defer t.s.giveBack(e)
	note = t.lacking()
	x, err := search.Attach(ctx, t.s.catalog, e.Archive, searchOptions(t.s.u))
	if err != nil {
		return nil, 0, note, err
	}
	defer x.Close() // nothing was written
	found, err := x.Search(ctx, search.Query{Text: query, Skip: skip, Limit: limit})
	return found.Hits, found.Total, note, err
}

// lacking says what the index lacks.
func (t *texts) lacking() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.failed != nil:
		return fmt.Sprintf("The index is not up to date: %v.", t.failed)
	case !t.ready:
		return fmt.Sprintf("The index is being built: %d of %d texts are read.", t.reads.Done, t.reads.Total)
	}
	return ""
}
