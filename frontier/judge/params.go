package judge

import (
	"iter"
	"slices"
	"strings"
)

// parameters iterates over the parameters of a query. Semicolons separate them too: HTML 4.01 §B.2.2
// recommends that; gitweb and Apache's directory listings use it.
func parameters(query string) iter.Seq[string] {
	return strings.FieldsFuncSeq(query, func(c rune) bool { return c == '&' || c == ';' })
}

func parameterNames(query string) (names string, n int) {
	var list []string
	for p := range parameters(query) {
		name, _, _ := strings.Cut(p, "=")
		list = append(list, name)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return strings.Join(list, "&"), len(list)
}

// separator returns the separator of the parameters of a query: a semicolon only if there is no
// ampersand and each part has the form name=value.
func separator(query string) string {
	if strings.Contains(query, "&") {
		return "&"
	}
	for p := range strings.SplitSeq(query, ";") {
		if !strings.Contains(p, "=") {
			return "&"
		}
	}
	return ";"
}
