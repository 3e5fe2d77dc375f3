package htmlmeta

import "strings"

// parseRefresh parses the value of a refresh, "5; url=/next", and returns the position of its
// URL; ok is false if it has none (HTML §4.2.5.3, shared declarative refresh steps). Unlike
// there, the time may be missing.
func parseRefresh(s string) (url span, ok bool) {
	i := skip(s, 0, asciiBlank)
	time := i
	i = skip(s, i, "0123456789.")
	if i > time {
		sep := i
		i = skip(s, i, asciiBlank)
		if i < len(s) && (s[i] == ';' || s[i] == ',') {
			i++
		} else if i == sep {
			return span{}, false
		}
		i = skip(s, i, asciiBlank)
	} else if len(s)-i < 3 || !strings.EqualFold(s[i:i+3], "url") {
		return span{}, false
	}
	i = skipURLEquals(s, i)
	end := len(s)
	if i < end && (s[i] == '"' || s[i] == '\'') {
		quote := s[i]
		i++
		if n := strings.IndexByte(s[i:], quote); n >= 0 {
			end = i + n
		}
	}
	return span{i, end}, i < end
}

// skipURLEquals skips "url =" at i, ignoring case.
func skipURLEquals(s string, i int) int {
	if len(s)-i < 3 || !strings.EqualFold(s[i:i+3], "url") {
		return i
	}
	j := skip(s, i+3, asciiBlank)
	if j == len(s) || s[j] != '=' {
		return i
	}
	return skip(s, j+1, asciiBlank)
}

// skip returns the first index from i on whose octet is not in set.
func skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}
