package keep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"curtsy/frontier/judge"
	"curtsy/storage/crawllog"
)

var began = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC) // a Monday

// history returns visits a day apart: a letter is a version, - a failure, ! gone.
func history(text string) (visits []*crawllog.Visit) {
	for i, c := range text {
		v := &crawllog.Visit{Asked: crawllog.Asked{URLID: 1, N: i + 1, At: began.AddDate(0, 0, i), Class: "page"}, Answer: crawllog.Answer{Status: 200},
			Payload: crawllog.Payload{Digest: string(c)}, Stored: crawllog.Stored{Kept: crawllog.KeptResponse}}
		switch c {
		case '-':
			v.Status, v.Kept = 503, crawllog.KeptResponse
		case '!':
			v.Status = 404
		}
		visits = append(visits, v)
	}
	return visits
}

func TestKept(t *testing.T) {
	for _, c := range []struct {
		says, rules, visits, want string
	}{
		{"what is shown alone", "", "abc", "..x"},
		{"what is shown, and the failure after it", "", "abc--", "..x.x"},
		{"a page that is gone stays gone since then", "", "ab!!!", ".xx.x"},
		{"the last two versions from when they came", "last=2", "aabbbccc", "..x..x.x"},
		{"a version that came back is a version", "last=2", "aba", ".xx"},
		{"failures are no versions", "last=2", "a-b-c", "..x.x"},
		{"each month's last", "monthly", strings.Repeat("ab", 30), strings.Repeat(".", 26) + "x" +
			strings.Repeat(".", 27) + "x" + "....x"},
		{"the last two weeks'", "weekly=2", strings.Repeat("abc", 9), strings.Repeat(".", 20) + "x" + ".....x"},
		{"all since a day, and what stood then", "since", "aab-cd", "..xxxx"},
		{"two rules", "last=1,weekly", "aaaaaaaaab", "......x..x"},
	} {
		r := Rules{}
		for text := range strings.SplitSeq(c.rules, ",") {
			if text == "since" {
				r.Since = began.AddDate(0, 0, 3)
			} else if text != "" && !r.Add(text) {
				t.Fatalf("%s: no rule %q", c.says, text)
			}
		}
		got := ""
		for _, kept := range r.Kept(history(c.visits)) {
			got += map[bool]string{true: "x", false: "."}[kept]
		}
		if got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.says, c.visits, got, c.want)
		}
	}
	if got := fmt.Sprint(new(Rules).Kept(nil)); got != "[]" {
		t.Errorf("of no visits: %s", got)
	}
}

func TestWhatForbidsIsKept(t *testing.T) {
	visits := history("ab--")
	visits[1].Kept = crawllog.KeptWithheld // it asks for noarchive from now on
	if kept := new(Rules).Kept(visits); !kept[1] {
		t.Error("the answer that takes back earlier copies is dropped")
	}
	for _, v := range visits {
		v.Class = judge.Prerequisite.String()
	}
	if kept := new(Rules).Kept(visits); slices.Contains(kept, false) {
		t.Errorf("a robots.txt is dropped: %v", kept)
	}
}

func TestRulesThatAreNone(t *testing.T) {
	for _, text := range []string{"", "last", "last=0", "last=-1", "last=x", "monthly=0", "fortnightly", "monthly="} {
		if new(Rules).Add(text) {
			t.Errorf("%q is taken for a rule", text)
		}
	}
}
