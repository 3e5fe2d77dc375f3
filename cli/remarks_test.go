package cli

import (
	"strings"
	"testing"
)

func TestARuleThatSkipsMostIsNamed(t *testing.T) {
	for _, c := range []struct {
		rules map[string]int
		found int
		want  string
	}{
		{map[string]int{"session-id": 3613, "http": 4}, 3915,
			"3613 of 3915 URLs were skipped by one rule (session-id): curtsy list site --reason session-id; where cookies are off, fetch.cookies: true"},
		{map[string]int{"query-order": 200}, 300,
			"200 of 300 URLs were skipped by one rule (query-order): curtsy list site --reason query-order"},
		{map[string]int{"session-id": 150}, 301, ""},
		{map[string]int{"session-id": 99}, 110, ""},
		{map[string]int{"host": 5000, "http": 300}, 400, ""},
		{nil, 0, ""},
	} {
		if got := oneRule(c.rules, c.found, "site"); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v of %d: %q", c.rules, c.found, got)
		}
	}
}
