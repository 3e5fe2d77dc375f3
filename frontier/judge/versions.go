package judge

// Versions limits the queries with a hash on different paths below the same two segments: a repository
// browser shows every file in every commit.
const Versions = "versions"

func versions(l *Link, f *Facts) Budget {
	if !l.URL.HasQuery() || f.Versions <= 0 || !hasHash(l.URL.Query(), 32) {
		return Budget{}
	}
	below, ok := belowTwo(l.URL.Path())
	if !ok {
		return Budget{}
	}
	names, _ := parameterNames(l.URL.Query())
	return Budget{Shape: l.URL.Origin() + below + "?" + names, Limit: f.Versions, Late: true}
}

// belowTwo returns the first two segments of a path that has more.
func belowTwo(path string) (string, bool) {
	n := 0
	for i := 1; i < len(path)-1; i++ {
		if path[i] == '/' {
			if n++; n == 2 {
				return path[:i], true
			}
		}
	}
	return "", false
}
