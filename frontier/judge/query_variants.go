package judge

import "strings"

// QueryVariants limits the queries with the same parameter names on one path; the budget is halved for
// each parameter beyond the first. If a parameter names a version, each view of it has its own budget,
// since every commit is a page. A query may have no parameter: "?&".
const QueryVariants = "query-variants"

func queryVariants(l *Link, f *Facts) Budget {
	if !l.URL.HasQuery() || f.QueryVariants <= 0 {
		return Budget{}
	}
	query := l.URL.Query()
	names, n := parameterNames(query)
	if f.Products > 0 && hasHash(query, leastHash) {
		names, n = views(query), 1
	}
	return Budget{Shape: l.URL.Origin() + l.URL.Path() + "?" + names,
		Limit: max(f.QueryVariants>>max(0, min(n-1, 6)), 10)}
}

// views returns the parameter names, with the values that are words: a=commit.
func views(query string) string {
	var b strings.Builder
	for p := range parameters(query) {
		name, value, _ := strings.Cut(p, "=")
		b.WriteString(name)
		if len(value) <= 20 && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz_") == "" {
			b.WriteString("=" + value)
		}
		b.WriteByte('&')
	}
	return b.String()
}
