package search

import "strings"

// bulgarian stems a lower-case word with Savoy's light stemmer ("Searching Strategies for the
// Bulgarian Language", Information Retrieval 10, 2007): it removes the article, the plural
// ending and a final vowel, and normalizes two stems. Lengths are in letters.
func bulgarian(word string) string {
	w := []rune(word)
	if len(w) < 4 {
		return word
	}
	if len(w) > 5 && ends(w, "ища") {
		return string(w[:len(w)-3])
	}
	w = replaceEnding(w, bulgarianArticles)
	w = withoutPlural(w)
	if len(w) > 3 {
		w = replaceEnding(w, []ending{{"я", "", 0}})
		w = replaceEnding(w, []ending{{"а", "", 0}, {"о", "", 0}, {"е", "", 0}})
	}
	w = replaceEnding(w, []ending{{"ен", "н", 4}})
	if n := len(w); n > 5 && w[n-2] == 'ъ' {
		w = append(w[:n-2], w[n-1])
	}
	return string(w)
}

// ending is a suffix, its replacement, and a number of letters that the word must exceed.
type ending struct {
	of, by string
	over   int
}

var bulgarianArticles = []ending{{"ият", "", 6}, {"ът", "", 5}, {"то", "", 5}, {"те", "", 5}, {"та", "", 5},
	{"ия", "", 5}, {"ят", "", 4}}

var bulgarianPlurals = []ending{{"овци", "о", 6}, {"ове", "", 6}, {"еве", "й", 6}, {"ища", "", 5}, {"та", "", 5},
	{"ци", "к", 5}, {"зи", "г", 5}}

func withoutPlural(w []rune) []rune {
	before := len(w)
	if w = replaceEnding(w, bulgarianPlurals); len(w) != before {
		return w
	}
	if n := len(w); n > 5 && w[n-3] == 'е' && w[n-1] == 'и' {
		w[n-3] = 'я'
		return w[:n-1]
	}
	return replaceEnding(w, []ending{{"си", "х", 4}, {"и", "", 4}})
}

// replaceEnding applies the first matching rule.
func replaceEnding(w []rune, rules []ending) []rune {
	for _, r := range rules {
		if len(w) > r.over && ends(w, r.of) {
			return append(w[:len(w)-len([]rune(r.of))], []rune(r.by)...)
		}
	}
	return w
}

func ends(w []rune, suffix string) bool {
	return strings.HasSuffix(string(w[max(0, len(w)-5):]), suffix)
}
