package storage

import (
	"strings"
	"testing"
	"time"
)

// Segment names sort in the order of writing, however the clock is set.
func TestNamesOfSegmentsFollowEachOther(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for _, tt := range []struct {
		last  string
		now   time.Time
		n     int
		stamp string
		want  int
	}{
		{"", at, 0, "20260504030201", 0},
		{"20260504030200-00007", at, 8, "20260504030201", 8},
		{"20260504030201-00007", at, 8, "20260504030201", 8},
		{"20260504030201-00007", at, 3, "20260504030201", 8}, // segments were lost
		{"20360504030201-00007", at, 8, "20360504030201", 8}, // the clock was set back
		{"20360504030201-00007-r2", at, 3, "20360504030201", 8},
	} {
		if stamp, n := following(tt.last, tt.now, tt.n); stamp != tt.stamp || n != tt.want {
			t.Errorf("after %q, at %v with %d: %s-%05d, want %s-%05d", tt.last, tt.now, tt.n, stamp, n,
				tt.stamp, tt.want)
		}
	}
}

func TestPartsOfASegmentsName(t *testing.T) {
	for _, tt := range []struct {
		name, age, repair string
		ok                bool
	}{
		{"site-20260504030201-00007.warc.gz", "20260504030201-00007", "", true},
		{"é.a_b-1-20260504030201-123456789-r12.warc.gz", "20260504030201-123456789-r12", "-r12", true},
		{"s-r1-20260504030201-00007.warc.gz", "20260504030201-00007", "", true},
		{name: "-20260504030201-00007.warc.gz"},
		{name: ".s-20260504030201-00007.warc.gz"},
		{name: "a b-20260504030201-00007.warc.gz"},
		{name: "s\xff-20260504030201-00007.warc.gz"},
		{name: "s/../x-20260504030201-00007.warc.gz"},
		{name: "s-2026050403020-00007.warc.gz"},
		{name: "s-20260504030201-0007.warc.gz"},
		{name: "s-20260504030201-1234567890.warc.gz"},
		{name: "s-20260504030201-00007-r.warc.gz"},
		{name: "s-20260504030201-00007-r1-r2.warc.gz"},
		{name: "s-20260504030201-00007.warc"},
		{name: "20260504030201-00007.warc.gz"},
		{name: strings.Repeat("s", 101) + "-20260504030201-00007.warc.gz"},
		{name: ".warc.gz"}, {name: ""},
	} {
		if age, repair, ok := segmentParts(tt.name); age != tt.age || repair != tt.repair || ok != tt.ok {
			t.Errorf("%q: %q, %q, %v", tt.name, age, repair, ok)
		}
	}
}
