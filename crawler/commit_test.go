package crawler_test

import (
	"context"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/storage/crawllog"
)

// With CommitEvery, visits wait for others to be committed with, also at a slow pace, but not when no
// other URL is known to be fetched.
func TestCommitEvery(t *testing.T) {
	t.Parallel()
	pages := map[string]page{"/robots.txt": text("User-agent: *\nCrawl-delay: 1\n"),
		"/": links("/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"), "/h": links("/i")}
	for _, name := range []string{"/a", "/b", "/c", "/d", "/e", "/f", "/g", "/i"} {
		pages[name] = html(name)
	}
	inBubble(t, pages, func(t *testing.T, s *site) {
		o := s.options()
		o.CommitEvery = 5 * time.Second
		commits, last := 0, time.Time{}
		o.OnVisit = func(context.Context, *crawllog.Visit) error {
			if now := time.Now(); !now.Equal(last) {
				commits, last = commits+1, now
			}
			return nil
		}
		began := time.Now()
		r := crawlLong(t, t.TempDir(), o)
		if took := time.Since(began); r.Ending != crawler.Done || r.Counts.Fetched != 11 || took > 11*time.Second {
			t.Errorf("%v after %v, %d fetched: %s", r.Ending, took, r.Counts.Fetched, r.Why)
		}
		if commits > 5 {
			t.Errorf("%d commits", commits)
		}
	})
}
