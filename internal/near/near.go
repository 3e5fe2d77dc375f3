// Package near suggests a name for a misspelt one.
package near

import "strings"

// enough is the maximum edit distance of a suggestion.
const enough = 2

// Name returns the name closest to word within that distance, or the only name that begins with
// word; "" if there is none.
func Name(word string, names []string) string {
	best, least := "", enough+1
	var begun []string
	for _, name := range names {
		if d := distance(word, name); d < least && d < len(name) {
			best, least = name, d
		}
		if len(word) > 1 && strings.HasPrefix(name, word) {
			begun = append(begun, name)
		}
	}
	if best == "" && len(begun) == 1 {
		return begun[0]
	}
	return best
}

// distance counts insertions, deletions, substitutions and transpositions (Damerau-Levenshtein,
// optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			differ := 1
			if a[i-1] == b[j-1] {
				differ = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differ)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
