package judge

import (
	"slices"
	"strings"
)

// QueryVariants bounds the queries with the same parameters on one path: half
// the budget for each parameter beyond the first.
const QueryVariants = "query-variants"

func queryVariants(l *Link, f *Facts) Budget {
	if !l.URL.HasQuery() || f.QueryVariants <= 0 {
		return Budget{}
	}
	names, n := parameterNames(l.URL.Query())
	return Budget{l.URL.Origin() + l.URL.Path() + "?" + names, max(f.QueryVariants>>min(n-1, 6), 10)}
}

func parameterNames(query string) (names string, n int) {
	var list []string
	for p := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(p, "=")
		list = append(list, name)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return strings.Join(list, "&"), len(list)
}
