package publish

import (
	"testing"
	"time"

	"curtsy/storage/crawllog"
)

func TestPermitsOfAHistory(t *testing.T) {
	now := time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	noarchive := &crawllog.Directives{NoArchive: true}
	short := 30
	for _, c := range []struct {
		says   string
		visits []crawllog.Visit
		want   []bool // whether each visit is shown
	}{
		{"each by itself", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 200}}}, []bool{true, true}},
		{"noarchive now takes back what was kept before",
			[]crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 200}, Stored: crawllog.Stored{Kept: crawllog.KeptWithheld}}}, []bool{false, false}},
		{"noarchive then does not bind a later capture", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Directives: noarchive},
			{Answer: crawllog.Answer{Status: 200}}}, []bool{false, true}},
		{"a page that is gone takes nothing back", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 404}}}, []bool{true, true}},
		{"nor does a challenge", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 403}, Payload: crawllog.Payload{Blocked: "challenge"}}},
			[]bool{true, false}},
		{"an unchanged page asks what its original asks", []crawllog.Visit{{Asked: crawllog.Asked{N: 1}, Answer: crawllog.Answer{Status: 200}, Directives: noarchive},
			{Asked: crawllog.Asked{N: 2}, Answer: crawllog.Answer{Status: 304}, Stored: crawllog.Stored{Refers: &crawllog.Ref{N: 1}}}}, []bool{false, false}},
		{"an unchanged page of the original before, whose own header forbids it", []crawllog.Visit{{Asked: crawllog.Asked{N: 1}, Answer: crawllog.Answer{Status: 200}},
			{Asked: crawllog.Asked{N: 2}, Answer: crawllog.Answer{Status: 304}, Stored: crawllog.Stored{Refers: &crawllog.Ref{N: 1}}, Directives: noarchive}}, []bool{false, false}},
	} {
		var visits []*crawllog.Visit
		for i := range c.visits {
			c.visits[i].At = now.Add(time.Duration(i-9) * time.Hour)
			visits = append(visits, &c.visits[i])
		}
		for i, p := range Permits(visits, now, nil) {
			if p.Show != c.want[i] {
				t.Errorf("%s: visit %d: shown %v", c.says, i+1, p.Show)
			}
			if !p.Show && p.Why() == "" {
				t.Errorf("%s: visit %d: no reason", c.says, i+1)
			}
		}
	}
	limited := []*crawllog.Visit{{Answer: crawllog.Answer{Status: 200}},
		{Answer: crawllog.Answer{Status: 200}, Asked: crawllog.Asked{At: now}, Directives: &crawllog.Directives{MaxSnippet: &short, NoTranslate: true}}}
	if p := Permits(limited, now, nil)[0]; p.Snippet != 30 || p.Translate || !p.Show {
		t.Errorf("an earlier capture has the limits of the current one: %+v", p)
	}
}
