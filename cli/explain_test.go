package cli

import (
	"testing"
	"time"

	"curtsy/crawler/explain"
	"curtsy/storage/crawllog"
)

// TestPermitOf checks that explain judges the same visit that the mirror shows.
func TestPermitOf(t *testing.T) {
	noindex, noarchive := &crawllog.Directives{NoIndex: true}, &crawllog.Directives{NoArchive: true}
	page := crawllog.Visit{Answer: crawllog.Answer{Status: 200}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse}}
	for _, c := range []struct {
		says   string
		visits []crawllog.Visit
		want   string
	}{
		{"the page, not the later error", []crawllog.Visit{page, {Answer: crawllog.Answer{Status: 503}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse},
			Directives: noindex}}, "the copy may be shown, the URL listed"},
		{"the later answer", []crawllog.Visit{page, {Answer: crawllog.Answer{Status: 200}, Stored: crawllog.Stored{Kept: crawllog.KeptWithheld}, Directives: noarchive}},
			"the copy may not be shown, the URL listed: noarchive"},
		{"an unchanged page asks what it asked", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse},
			Directives: noindex}, {Answer: crawllog.Answer{Status: 304}, Stored: crawllog.Stored{Kept: crawllog.KeptRevisit, Refers: &crawllog.Ref{URLID: 7, N: 1}}}},
			"the copy may be shown, the URL not listed: noindex"},
		{"nothing is kept", []crawllog.Visit{{Answer: crawllog.Answer{Error: "timeout"}}}, ""},
	} {
		x := &explain.Explanation{}
		for i := range c.visits {
			v := &c.visits[i]
			v.URLID, v.N, v.At = 7, i+1, time.Unix(int64(i), 0)
			x.Visits = append(x.Visits, v)
		}
		got := ""
		if p := permitOf(x, time.Unix(1e9, 0)); p != nil {
			got = p.String()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.says, got, c.want)
		}
	}
}
