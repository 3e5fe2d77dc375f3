// Package crawltest is what tests of whole crawls share: one run, and an
// archive checked by verify.
package crawltest

import (
	"context"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/verify"
	"curtsy/storage"
)

// Run makes one run over the archive in dir, which ends by itself within most,
// or when stop is done.
func Run(t testing.TB, stop context.Context, dir string, o crawler.Options, most time.Duration) crawler.Result {
	t.Helper()
	c, err := crawler.Open(dir, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	r, err := c.Run(ctx, stop)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	if ctx.Err() != nil {
		t.Fatalf("the crawl did not end in %v: %v", most, r.Counts.Reasons)
	}
	return r
}

// Sound verifies an archive, then cuts off what a kill left in
// flight, as the next crawl does.
func Sound(t testing.TB, dir string) {
	t.Helper()
	report, err := verify.Archive(dir, nil)
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	for _, p := range report.Problems {
		t.Errorf("verify: %+v", p)
	}
	if len(report.Problems) > 0 {
		return
	}
	a, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
