package judge

// QueryVariants bounds the queries with the same parameters on one path: half
// the budget for each parameter beyond the first.
const QueryVariants = "query-variants"

func queryVariants(l *Link, f *Facts) Budget {
	if !l.URL.HasQuery() || f.QueryVariants <= 0 {
		return Budget{}
	}
	names, n := parameterNames(l.URL.Query())
	return Budget{Shape: l.URL.Origin() + l.URL.Path() + "?" + names, Limit: max(f.QueryVariants>>min(n-1, 6), 10)}
}
