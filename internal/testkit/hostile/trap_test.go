package hostile_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/frontier"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/hostile"
)

// What a trap rule held back goes through when its budget is raised and the
// crawl goes on: one setting for each rule.
func TestRaisedBudgetsLetThrough(t *testing.T) {
	for _, c := range []struct {
		fixture, rule string
		raise         func(*frontier.Traps)
	}{
		{"calendar", "calendar: over 18 months", func(t *frontier.Traps) { t.Ahead = 30 }},
		{"calendar", "calendar: over 1250 alike", func(t *frontier.Traps) { t.Calendar = 10_400 }},
		{"facets", "facets", func(t *frontier.Traps) { t.Facets = 1100 }},
		{"versions", "versions", func(t *frontier.Traps) { t.Versions = 1100 }},
		{"repeated", "repeated-segments", func(t *frontier.Traps) { t.Repeats = 8 }},
		{"deep", "path-depth", func(t *frontier.Traps) { t.PathDepth = 80 }},
		{"session-query", "session-id", func(t *frontier.Traps) { t.Twins = false; t.QueryVariants = 40 }},
		{"query-order", "query-order", func(t *frontier.Traps) { t.Twins = false }},
		{"soft-404-echo", "soft-404", func(t *frontier.Traps) { t.SoftNotFound = 0; t.PathDepth = 4 }},
		{"mirrored", "same-body", func(t *frontier.Traps) { t.SameBody = 0; t.PathDepth = 6 }},
	} {
		t.Run(c.fixture+"/"+c.rule, func(t *testing.T) {
			t.Parallel()
			s, err := hostile.Start("127.0.0.1:0", hostile.Find(c.fixture))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			dir := filepath.Join(t.TempDir(), "archive")
			o := options(t, s.Origin+"/", nil)
			first := crawl(t, dir, o, time.Minute)
			status, err := crawler.ReadStatus(dir)
			if err != nil || !holds(status.Reasons, "trap: "+c.rule) {
				t.Errorf("status does not name %s: %v, %v", c.rule, status.Reasons, err)
			}
			before := len(s.Requests())
			c.raise(&o.Traps)
			o.Limits.Pages = first.State.Pages + 100 // some of them may have no end now
			second := crawl(t, dir, o, time.Minute)
			if second.Counts.Fetched <= first.Counts.Fetched || len(s.Requests()) <= before {
				t.Errorf("%d fetched, then %d; %d requests, then %d: %v", first.Counts.Fetched, second.Counts.Fetched, before, len(s.Requests()), second.Counts.Reasons)
			}
			crawltest.Sound(t, dir)
		})
	}
}

func holds(reasons map[string]int, prefix string) bool {
	for r, n := range reasons {
		if n > 0 && strings.HasPrefix(r, prefix) {
			return true
		}
	}
	return false
}
