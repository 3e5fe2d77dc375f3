package publish

import (
	"testing"
	"time"

	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// Each capture has its own preferences; the current one of a URL has the newest.
func TestPermitsOfUsage(t *testing.T) {
	now := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	says := func(v usage.Value) []usage.Statement {
		return []usage.Statement{{Category: usage.Search, Value: v, Source: usage.InRobots, By: "Content-Usage",
			Line: 3, Text: "Content-Usage: search=" + string(v)}}
	}
	n, y := says(usage.No), says(usage.Yes)
	refers := &crawllog.Ref{N: 1}
	for _, c := range []struct {
		name   string
		visits []crawllog.Visit
		usage  []usage.Value
		listed []bool
	}{
		{"nothing said", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}}, []usage.Value{""}, []bool{true}},
		{"y permits what is permitted", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Usage: y}}, []usage.Value{"y"}, []bool{true}},
		{"n is as noindex", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Usage: n}}, []usage.Value{"n"}, []bool{false}},
		{"then n, now y", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Usage: n}, {Answer: crawllog.Answer{Status: 200}, Usage: y}}, []usage.Value{"n", "y"},
			[]bool{false, true}},
		{"then y, now n", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Usage: y}, {Answer: crawllog.Answer{Status: 200}, Usage: n}}, []usage.Value{"y", "n"},
			[]bool{true, false}},
		{"unchanged, now y", []crawllog.Visit{{Asked: crawllog.Asked{N: 1}, Answer: crawllog.Answer{Status: 200}, Usage: n},
			{Asked: crawllog.Asked{N: 2}, Answer: crawllog.Answer{Status: 304}, Stored: crawllog.Stored{Refers: refers}, Usage: y}}, []usage.Value{"y", "y"}, []bool{true, true}},
		{"unchanged, now n", []crawllog.Visit{{Asked: crawllog.Asked{N: 1}, Answer: crawllog.Answer{Status: 200}, Usage: y},
			{Asked: crawllog.Asked{N: 2}, Answer: crawllog.Answer{Status: 304}, Stored: crawllog.Stored{Refers: refers}, Usage: n}}, []usage.Value{"n", "n"}, []bool{false, false}},
		{"a failure says nothing", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Usage: n}, {Answer: crawllog.Answer{Status: 503}, Usage: y}},
			[]usage.Value{"n", "y"}, []bool{false, true}},
		{"y undoes no noindex", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Usage: y,
			Directives: &crawllog.Directives{NoIndex: true}}}, []usage.Value{"y"}, []bool{false}},
	} {
		var visits []*crawllog.Visit
		for i := range c.visits {
			c.visits[i].At = now.Add(time.Duration(i-9) * time.Hour)
			visits = append(visits, &c.visits[i])
		}
		for i, p := range Permits(visits, now, nil) {
			if p.Usage[usage.Search] != c.usage[i] || p.List != c.listed[i] || !p.Show {
				t.Errorf("%s: visit %d: %v, listed %v, shown %v", c.name, i+1, p.Usage, p.List, p.Show)
			}
		}
	}
	p := Decide(&crawllog.Visit{Usage: n}, now)
	if want := "search=n (robots.txt, line 3: Content-Usage: search=n)"; p.Why() != want || !p.Refuses(usage.Search) ||
		p.Refuses(usage.TDM) {
		t.Errorf("%q, want %q", p.Why(), want)
	}
}
