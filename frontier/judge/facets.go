package judge

// Facets limits the queries with two or more parameters on one path, where filters are combined. A shop
// is recognized by the number of combinations of parameter names.
const Facets = "facets"

// manyCombinations of parameter names on one path make it a shop.
const manyCombinations = 32

func facets(l *Link, f *Facts) Budget {
	if !l.URL.HasQuery() || f.Facets <= 0 {
		return Budget{}
	}
	names, n := parameterNames(l.URL.Query())
	path := l.URL.Origin() + l.URL.Path()
	if n < 2 || f.Memory != nil && combinations(path, names, f.Memory) <= manyCombinations {
		return Budget{}
	}
	return Budget{Shape: path, Limit: f.Facets, Late: true}
}

// combinations returns the number of combinations of names on a path, this one included.
func combinations(path, names string, m Memory) int {
	if m.Count("combination "+path+"?"+names) == 1 {
		return m.Count("combinations " + path)
	}
	return m.Counted("combinations " + path)
}
