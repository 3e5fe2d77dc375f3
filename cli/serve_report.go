package cli

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"curtsy/publish/catalog"
	"curtsy/publish/replay"
	"curtsy/publish/report"
	"curtsy/storage"
)

// figures are the plots and the report of an archive that is served, made when
// somebody asks, and again when crawl.db has changed.
type figures struct {
	mu      sync.Mutex // one at a time
	plots   kept[[]replay.Plot]
	reports kept[[]byte]
}

// kept is what was made of crawl.db as it was at a time.
type kept[T any] struct {
	of    time.Time
	value T
}

// get gives what is kept, or makes it.
func (k *kept[T]) get(of time.Time, make func() (T, error)) (T, error) {
	if !k.of.IsZero() && k.of.Equal(of) {
		return k.value, nil
	}
	value, err := make()
	if err == nil {
		k.of, k.value = of, value
	}
	return value, err
}

// plots draws what the index counts.
func (s *shelf) plots(ctx context.Context) ([]replay.Plot, error) {
	s.figures.mu.Lock()
	defer s.figures.mu.Unlock()
	return s.figures.plots.get(s.changedAt(), func() ([]replay.Plot, error) {
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

// report is what the command of that name writes.
func (s *shelf) report(ctx context.Context) ([]byte, error) {
	s.figures.mu.Lock()
	defer s.figures.mu.Unlock()
	return s.figures.reports.get(s.changedAt(), func() (page []byte, err error) {
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
