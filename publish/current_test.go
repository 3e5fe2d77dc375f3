package publish

import (
	"testing"
	"time"

	"curtsy/storage"
)

func TestCurrent(t *testing.T) {
	for _, c := range []struct {
		says   string
		visits []storage.Visit
		want   int
	}{
		{"the later of equals", []storage.Visit{{Status: 200}, {Status: 404}}, 1},
		{"a server that is down takes nothing back", []storage.Visit{{Status: 200}, {Status: 503}, {}, {Status: 429}}, 0},
		{"nor does a challenge", []storage.Visit{{Status: 200}, {Status: 403, Blocked: "challenge"}}, 0},
		{"a whole one before a later one cut off", []storage.Visit{{Status: 200}, {Status: 200, Truncated: "disconnect"}}, 0},
		{"our own limit of length cuts off each time", []storage.Visit{{Status: 200}, {Status: 200, Truncated: "length"}}, 1},
		{"an error with an answer before one without", []storage.Visit{{}, {Status: 500}, {}}, 1},
	} {
		var visits []*storage.Visit
		for i := range c.visits {
			c.visits[i].At = time.Unix(int64(i), 0)
			visits = append(visits, &c.visits[i])
		}
		if got := Current(visits); got != visits[c.want] {
			t.Errorf("%s: got the visit of %v", c.says, got.At.Unix())
		}
	}
	if Current(nil) != nil {
		t.Error("a visit of none")
	}
}
