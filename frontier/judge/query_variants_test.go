package judge

import (
	"testing"

	"curtsy/internal/weburl"
)

func TestAQueryMayHaveNoParameters(t *testing.T) {
	f := &Facts{Settings: &Settings{Scope: Scope{Origins: []string{"http://h"}}, Traps: DefaultTraps()}}
	for _, query := range []string{"?", "?&", "?;", "?&&;", "?="} {
		l := &Link{URL: weburl.MustParse("http://h/q" + query), Class: Page}
		if b := queryVariants(l, f); b.Limit < 0 || b.Limit > f.QueryVariants {
			t.Errorf("%s: a budget of %d", query, b.Limit)
		}
		facets(l, f)
	}
}
