package crawler

import "testing"

func TestTrendTellsWhetherTheEndComesNearer(t *testing.T) {
	for name, c := range map[string]struct {
		discovered, done int // per second
		want             float64
	}{"a site that is known": {0, 10, 0}, "one that grows": {12, 10, 1.2}, "one that is slow": {1, 0, 0},
		"one that is found step by step": {5, 10, 0.5}} {
		var tr trend
		for i := range 100 {
			discovered := 1000 + i*c.discovered
			tr.add(discovered, discovered-i*c.done)
		}
		if got := tr.growth(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if g := new(trend).growth(); g != 0 {
		t.Errorf("of nothing: %v", g)
	}
}
