package publish

import (
	"testing"
	"time"

	"curtsy/storage/crawllog"
)

func TestCurrent(t *testing.T) {
	for _, c := range []struct {
		says   string
		visits []crawllog.Visit
		want   int
	}{
		{"the later of equals", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 203}}}, 1},
		{"a redirect that leads nowhere hides no page",
			[]crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 301, Location: "http://a/"}}}, 0},
		{"but is what there is where no page was", []crawllog.Visit{{Answer: crawllog.Answer{Status: 404}}, {Answer: crawllog.Answer{Status: 301, Location: "http://a/"}},
			{Answer: crawllog.Answer{Status: 404}}}, 1},
		{"a page that is gone takes nothing back", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 404}}, {Answer: crawllog.Answer{Status: 410}}}, 0},
		{"nor does one that is forbidden now", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 403}}}, 0},
		{"gone is more than down", []crawllog.Visit{{Answer: crawllog.Answer{Status: 503}}, {Answer: crawllog.Answer{Status: 404}}, {}}, 1},
		{"unchanged is the copy that it refers to", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}},
			{Answer: crawllog.Answer{Status: 304}, Stored: crawllog.Stored{Refers: &crawllog.Ref{}}}, {Answer: crawllog.Answer{Status: 304}, Stored: crawllog.Stored{Refers: &crawllog.Ref{}}}}, 0},
		{"what is suspect hides no good copy", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Suspect: "empty"}}}, 0},
		{"a server that is down takes nothing back", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 503}}, {}, {Answer: crawllog.Answer{Status: 429}}},
			0},
		{"nor does a challenge", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 403}, Payload: crawllog.Payload{Blocked: "challenge"}}}, 0},
		{"a whole one before a later one cut off",
			[]crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Truncated: "disconnect"}}}, 0},
		{"our own limit of length cuts off each time", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Truncated: "length"}},
			{Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Truncated: "disconnect"}}, {Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Truncated: "length"}}}, 2},
		{"and hides no whole copy", []crawllog.Visit{{Answer: crawllog.Answer{Status: 200}}, {Answer: crawllog.Answer{Status: 200}, Payload: crawllog.Payload{Truncated: "length"}}}, 0},
		{"an error with an answer before one without", []crawllog.Visit{{}, {Answer: crawllog.Answer{Status: 500}}, {}}, 1},
	} {
		var visits []*crawllog.Visit
		for i := range c.visits {
			c.visits[i].At = time.Unix(int64(i), 0)
			visits = append(visits, &c.visits[i])
		}
		if got := crawllog.Current(visits, nil); got != visits[c.want] {
			t.Errorf("%s: got the visit of %v", c.says, got.At.Unix())
		}
	}
	if crawllog.Current(nil, nil) != nil {
		t.Error("a visit of none")
	}
}

func TestCurrentAt(t *testing.T) {
	visits := []*crawllog.Visit{{Answer: crawllog.Answer{Status: 200}, Asked: crawllog.Asked{At: time.Unix(1, 0)}}, {Answer: crawllog.Answer{Status: 200}, Asked: crawllog.Asked{At: time.Unix(5, 0)}},
		{Answer: crawllog.Answer{Status: 503}, Asked: crawllog.Asked{At: time.Unix(9, 0)}}}
	for at, want := range map[int64]*crawllog.Visit{0: nil, 1: visits[0], 4: visits[0], 5: visits[1], 20: visits[1]} {
		if got := CurrentAt(visits, time.Unix(at, 0), nil); got != want {
			t.Errorf("at %d: got %v, want %v", at, got, want)
		}
	}
}

func TestGoneSince(t *testing.T) {
	for _, c := range []struct {
		says   string
		status []int
		since  int64 // -1: not gone
	}{
		{"nothing is known", nil, -1},
		{"one 404 may be an accident", []int{200, 404}, -1},
		{"two are none, and the first tells since when", []int{200, 404, 404}, 1},
		{"410 says so at once", []int{200, 410}, 1},
		{"a server that is down between them says nothing", []int{200, 404, 503, 0, 404}, 1},
		{"it is back", []int{200, 410, 200}, -1},
		{"gone again", []int{200, 410, 200, 404, 410}, 3},
	} {
		var visits []*crawllog.Visit
		for i, s := range c.status {
			visits = append(visits, &crawllog.Visit{Answer: crawllog.Answer{Status: s}, Asked: crawllog.Asked{At: time.Unix(int64(i), 0)}})
		}
		since, gone := GoneSince(visits, nil)
		if gone != (c.since >= 0) || gone && since.Unix() != c.since {
			t.Errorf("%s: got %v since %d, want since %d", c.says, gone, since.Unix(), c.since)
		}
	}
}
