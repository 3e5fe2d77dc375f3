package judge

import "strings"

// Pattern limits the URLs that differ only in digits.
const Pattern = "pattern"

func pattern(l *Link, f *Facts) Budget {
	shape, digits := withoutDigits(l.URL.String())
	if !digits {
		return Budget{}
	}
	return Budget{Shape: shape, Limit: f.Pattern}
}

// withoutDigits replaces every run of digits by a 0.
func withoutDigits(s string) (shape string, digits bool) {
	i := strings.IndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' })
	if i < 0 {
		return s, false
	}
	b := make([]byte, 0, len(s))
	for j := 0; j < len(s); j++ {
		c := s[j]
		if c >= '0' && c <= '9' {
			if n := len(b); n > 0 && b[n-1] == '0' {
				continue
			}
			c = '0'
		}
		b = append(b, c)
	}
	return string(b), true
}
