package judge_test

import (
	"strings"
	"testing"

	"curtsy/frontier/judge"
)

func TestHop(t *testing.T) {
	for _, c := range []struct {
		how            judge.How
		requisite, via bool
		want           byte
	}{
		{judge.HowSeed, false, false, 0}, {judge.HowSeed, false, true, 'R'}, {"a href", false, true, 'L'},
		{"img src", true, true, 'E'}, {judge.HowRedirect, false, true, 'R'}, {judge.HowRobots, false, true, 'P'},
		{judge.HowSitemap, false, true, 'M'}, {"script src", true, true, 'X'}, {judge.HowProbe, false, true, 'I'},
		{judge.HowImported + "E", false, true, 'E'}, {"imported", true, true, 0}, {judge.HowImported, true, true, 'E'},
	} {
		if got := judge.Hop(c.how, c.requisite, c.via); got != c.want {
			t.Errorf("%s, %v, %v: %q, want %q", c.how, c.requisite, c.via, got, c.want)
		}
	}
	// Taken from org.archive.modules.CrawlURITest.
	l := func(n int) string { return strings.Repeat("L", n) }
	for from, want := range map[string]string{"": "X", "L": "LX", l(49): l(49) + "X", l(50): "1+" + l(49) + "X",
		"99+" + l(50): "100+" + l(49) + "X"} {
		if got := judge.ExtendHops(from, 'X'); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}
