package hostile_test

import (
	"path/filepath"
	"strings"
	"testing"

	"curtsy/crawler/status"
	"curtsy/frontier/judge"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/hostile"
)

// URLs that a trap rule held back are fetched when its budget is raised and the crawl is
// resumed; there is one setting for each rule.
func TestRaisedBudgetsLetThrough(t *testing.T) {
	if testing.Short() {
		t.Skip("each budget once: TestEachFixture")
	}
	for _, c := range []struct {
		fixture, rule string
		raise         func(*judge.Traps)
	}{
		{"calendar", "far-dates: over 18 months", func(t *judge.Traps) { t.Ahead = 30 }},
		{"calendar", "calendar: over 125 similar URLs", func(t *judge.Traps) { t.Calendar = 1400 }},
		{"facets", "facets", func(t *judge.Traps) { t.Facets = 200 }},
		{"versions", "versions", func(t *judge.Traps) { t.Versions = 200 }},
		{"repeated", "repeated-segments", func(t *judge.Traps) { t.Repeats = 8 }},
		{"deep", "path-depth", func(t *judge.Traps) { t.PathDepth = 80 }},
		{"session-query", "session-id", func(t *judge.Traps) { t.Twins = false; t.QueryVariants = 40 }},
		{"query-order", "query-order", func(t *judge.Traps) { t.Twins = false }},
		{"soft-404-echo", "soft-404", func(t *judge.Traps) { t.SoftNotFound = 0; t.PathDepth = 4 }},
		{"mirrored", "same-body", func(t *judge.Traps) { t.SameBody = 0; t.PathDepth = 6 }},
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
			o.Traps.Calendar, o.Traps.Facets, o.Traps.Versions = 1000, 100, 100 // TestEachFixture has the defaults
			first := crawl(t, dir, o, hang)
			status, err := status.Read(dir)
			if err != nil || !holds(status.Reasons, "trap: "+c.rule) {
				t.Errorf("status does not name %s: %v, %v", c.rule, status.Reasons, err)
			}
			before := len(s.Requests())
			c.raise(&o.Traps)
			o.Limits.Pages = first.State.Pages + 100 // some of them may be endless now
			second := crawl(t, dir, o, hang)
			if second.Counts.Fetched <= first.Counts.Fetched || len(s.Requests()) <= before {
				t.Errorf("%d fetched, then %d; %d requests, then %d: %v", first.Counts.Fetched, second.Counts.Fetched,
					before, len(s.Requests()), second.Counts.Reasons)
			}
			crawltest.Sound(t, dir)
		})
	}
}

func holds(reasons []judge.Count, prefix string) bool {
	for _, r := range reasons {
		if r.Count > 0 && strings.HasPrefix(r.String(), prefix) {
			return true
		}
	}
	return false
}
