package cli

import (
	"context"
	"errors"
	"sync/atomic"

	"curtsy/publish/catalog"
	"curtsy/publish/replay"
	"curtsy/publish/search"
	"curtsy/storage"
)

// lateSearch is the search of an archive that is served: texts that are new are
// read in the background, while pages are shown already.
type lateSearch struct {
	ready  atomic.Pointer[search.Searcher]
	failed atomic.Pointer[error]
	stop   context.CancelFunc
	done   chan struct{}
}

var errIndexing = errors.New("the texts are being read; try again in a moment")

func openLate(ctx context.Context, u *ui, c *catalog.Catalog, a *storage.Archive) *lateSearch {
	l := &lateSearch{done: make(chan struct{})}
	ctx, l.stop = context.WithCancel(ctx)
	go func() {
		defer close(l.done)
		s, err := openGuarded(ctx, c, a)
		if err != nil {
			if ctx.Err() == nil {
				u.say("the search of %s cannot be opened: %v", a.Dir(), err)
			}
			l.failed.Store(&err)
			return
		}
		l.ready.Store(s)
	}()
	return l
}

func openGuarded(ctx context.Context, c *catalog.Catalog, a *storage.Archive) (s *search.Searcher, err error) {
	defer storage.Guard(&err)()
	return search.Open(ctx, c, a, search.Options{})
}

// close waits for the reading to end.
func (l *lateSearch) close() error {
	l.stop()
	<-l.done
	if s := l.ready.Load(); s != nil {
		return s.Close()
	}
	return nil
}

// find answers one query.
func (l *lateSearch) find(ctx context.Context, query string, limit int) ([]replay.Hit, error) {
	s := l.ready.Load()
	if s == nil {
		if err := l.failed.Load(); err != nil {
			return nil, *err
		}
		return nil, errIndexing
	}
	found, err := s.Search(ctx, search.Query{Text: query, Limit: limit})
	hits := make([]replay.Hit, len(found))
	for i, h := range found {
		hits[i] = replay.Hit{URL: h.URL, Title: h.Title, Lang: h.Lang, Captured: h.Captured, Snippet: pieces(h.Snippet)}
	}
	return hits, err
}

// pieces cuts a snippet at its marks.
func pieces(s search.Snippet) (list []replay.Piece) {
	at := 0
	for _, m := range s.Marks {
		list = append(list, replay.Piece{Text: s.Text[at:m[0]]}, replay.Piece{Text: s.Text[m[0]:m[1]], Marked: true})
		at = m[1]
	}
	if at < len(s.Text) {
		list = append(list, replay.Piece{Text: s.Text[at:]})
	}
	return list
}
