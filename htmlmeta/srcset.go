package htmlmeta

import "strings"

// eachCandidate calls f with the position of each URL of a srcset (HTML §4.8.4.2.1, parse a
// srcset attribute) until f returns false. URLs may contain commas except at the end;
// descriptors may contain them in parentheses.
func eachCandidate(s string, f func(url span) bool) {
	for i := 0; ; {
		i = skip(s, i, asciiBlank+",")
		if i == len(s) {
			return
		}
		from := i
		for i < len(s) && strings.IndexByte(asciiBlank, s[i]) < 0 {
			i++
		}
		end := i
		for s[end-1] == ',' {
			end-- // a trailing comma means that there are no descriptors
		}
		if end == i {
			i = skipDescriptors(s, i)
		}
		if !f(span{from, end}) {
			return
		}
	}
}

// skipDescriptors returns the index after the comma that ends the descriptors.
func skipDescriptors(s string, i int) int {
	depth := false
	for ; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth = true
		case ')':
			depth = false
		case ',':
			if !depth {
				return i + 1
			}
		}
	}
	return i
}
