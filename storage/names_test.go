package storage

import (
	"testing"
	"time"
)

// Names of segments sort in the order of writing, however the clock is set.
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
