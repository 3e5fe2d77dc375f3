package judge

import "strings"

// Versions bounds the queries with a hash on ever other paths below the same
// two segments: a repository's browser shows every file as it was in every
// commit.
const Versions = "versions"

func versions(l *Link, f *Facts) Budget {
	if !l.URL.HasQuery() || f.Versions <= 0 || !hasHash(l.URL.Query()) {
		return Budget{}
	}
	below, ok := belowTwo(l.URL.Path())
	if !ok {
		return Budget{}
	}
	names, _ := parameterNames(l.URL.Query())
	return Budget{l.URL.Origin() + below + "?" + names, f.Versions}
}

// belowTwo is the first two segments of a path that has more.
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

// hasHash says whether a parameter's value is a hash, as those that name a
// commit: a repository's browser shows every file as it was in every commit.
func hasHash(query string) bool {
	for p := range strings.SplitSeq(query, "&") {
		_, value, _ := strings.Cut(p, "=")
		if len(value) >= 32 && strings.Trim(value, "0123456789abcdef") == "" {
			return true
		}
	}
	return false
}
