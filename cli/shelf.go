package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/publish/catalog"
	"curtsy/publish/replay"
	"curtsy/publish/report"
	"curtsy/storage"
)

// shelf is a served archive. It is open while a request reads it and a moment longer, so that a
// crawl can start meanwhile. It is opened again when crawl.db has changed, to show what a crawl
// has added.
type shelf struct {
	u       *ui
	dir     string
	seed    weburl.URL
	key     [16]byte
	catalog *catalog.Catalog
	texts   *texts

	drawn    kept[[]replay.Plot]
	reported kept[[]byte]

	mu  sync.Mutex
	now *edition // nil: not open
}

// edition is the archive in the state in which it was opened.
type edition struct {
	*opened
	asOf    time.Time
	changed time.Time // modification time of crawl.db before it was opened
	users   int

	links       sync.Once
	cleanParams func(weburl.URL) (weburl.URL, bool) // nil: none
}

const (
	idleShelf = 50 * time.Millisecond // how long an unused archive stays open; a starting crawl waits longer
	freshFor  = time.Second           // how long one state is served at least
)

// openShelf opens an archive to be served, and keeps its index up to date until the context
// ends.
func openShelf(ctx context.Context, u *ui, dir string) (*shelf, error) {
	s := &shelf{u: u, dir: dir}
	e, err := s.take()
	if err != nil {
		return nil, err
	}
	defer s.giveBack(e)
	s.seed, s.key = e.seed, e.Key()
	bar := newStepBar(u)
	s.catalog, err = catalog.Open(ctx, e.Archive,
		catalog.Options{Watch: func(p catalog.Progress) { bar.show("index: "+p.Step, p.Done, p.Total) }})
	bar.close()
	if err != nil {
		return nil, archiveError(err, dir)
	}
	s.texts = followTexts(ctx, s)
	return s, nil
}

func (s *shelf) close() {
	s.texts.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
	_ = s.catalog.Close() // nothing was written
}

// changedAt returns the modification time of crawl.db.
func (s *shelf) changedAt() time.Time {
	st, err := os.Stat(filepath.Join(s.dir, "crawl.db"))
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}

// take opens the current state of the archive; the caller must call giveBack.
func (s *shelf) take() (*edition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.now; e != nil && time.Since(e.asOf) > freshFor && !s.changedAt().Equal(e.changed) {
		s.retire()
	}
	if s.now == nil {
		e := &edition{asOf: time.Now(), changed: s.changedAt()}
		var err error
		if e.opened, err = openShown(s.dir); err != nil {
			return nil, err
		}
		if s.catalog != nil && e.Key() != s.key {
			e.Close()
			return nil, fmt.Errorf("%s has been replaced by another archive: restart serve", s.dir)
		}
		s.now = e
	}
	s.now.users++
	return s.now, nil
}

func (s *shelf) giveBack(e *edition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.users--
	switch {
	case e.users > 0:
	case e != s.now:
		_ = e.Close() // nothing was written
	default:
		time.AfterFunc(idleShelf, func() { s.rest(e) })
	}
}

// rest closes the archive if it was not used since.
func (s *shelf) rest(e *edition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == e && e.users == 0 {
		s.retire()
	}
}

// retire closes the current edition, now or when its last user gives it back.
func (s *shelf) retire() {
	e := s.now
	s.now = nil
	if e != nil && e.users == 0 {
		_ = e.Close() // nothing was written
	}
}

// read opens the archive for a request.
func (s *shelf) read() (*replay.Reading, error) {
	e, err := s.take()
	if err != nil {
		return nil, err
	}
	state, at := "finished", e.state.Updated
	switch {
	case e.IsLive():
		state, at = "running", e.asOf
	case !e.state.Finished:
		state = cmp.Or(e.state.Ended, "not finished")
	}
	r := &replay.Reading{Archive: e.Archive, State: state, AsOf: at, Rounds: e.state.Rounds,
		Names: e.state.Names(), Holds: *e.state.Holds, Fold: e.fold, Close: func() { s.giveBack(e) }}
	if e.config.Traps.Twins {
		r.Form = judge.SamePage
	}
	return r, nil
}

// fold applies the Clean-param of the site, whose robots.txt is read at the first call.
func (e *edition) fold(u weburl.URL) (weburl.URL, bool) {
	e.links.Do(func() {
		o, err := linkOptions(e.opened)
		if err == nil { // damage is reported by what is read after it
			e.cleanParams = o.Fold
		}
	})
	if e.cleanParams == nil {
		return u, false
	}
	return e.cleanParams(u)
}

// kept caches a value computed from crawl.db.
type kept[T any] struct {
	mu       sync.Mutex
	of, made time.Time
	value    T
}

// keptFor is the lifetime of a cached value: permits change over time (unavailable_after), even
// if crawl.db does not.
const keptFor = time.Minute

// get returns the cached value, or computes it: the first time, when crawl.db has changed, and
// when it has expired.
func (k *kept[T]) get(of time.Time, make func() (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if !k.of.IsZero() && k.of.Equal(of) && now.Sub(k.made) < keptFor {
		return k.value, nil
	}
	value, err := make()
	if err == nil {
		k.of, k.made, k.value = of, now, value
	}
	return value, err
}

// plots draws the tallies of the index.
func (s *shelf) plots(ctx context.Context) ([]replay.Plot, error) {
	return s.drawn.get(s.changedAt(), func() ([]replay.Plot, error) {
		statuses, types, err := s.catalog.Tallies(ctx)
		if err != nil {
			return nil, err
		}
		return []replay.Plot{plotOf("Responses by status", statuses), plotOf("Captures by type", types)}, nil
	})
}

func plotOf(title string, list []catalog.Tally) replay.Plot {
	p := report.Plot{Title: title}
	for _, t := range list {
		p.Bars = append(p.Bars, report.Bar{Label: strings.TrimPrefix(t.Name, "application/"), Value: float64(t.Count),
			Text: strconv.Itoa(t.Count)})
	}
	return replay.Plot{Title: title, SVG: p.SVG()}
}

// report returns the output of the report command.
func (s *shelf) report(ctx context.Context) ([]byte, error) {
	return s.reported.get(s.changedAt(), func() (page []byte, err error) {
		defer storage.Guard(&err)()
		a, err := openBoth(s.dir)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		o, err := reportOptions(a, s.dir)
		if err != nil {
			return nil, err
		}
		o.Home = "/"
		var b bytes.Buffer
		if _, err := report.Write(ctx, &b, a.Archive, o); err != nil {
			return nil, fmt.Errorf("report on %s: %w", s.dir, err)
		}
		return b.Bytes(), nil
	})
}
