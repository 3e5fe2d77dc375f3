package judge

import (
	"iter"
	"slices"
	"strings"
)

// parameters are those of a query. A semicolon separates them, too: HTML 4.01
// §B.2.2 asks for it, gitweb and the listings of Apache do it.
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

// separator is what stands between the parameters of a query: semicolons only
// where there is no ampersand and each of its parts has a name and a value.
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
