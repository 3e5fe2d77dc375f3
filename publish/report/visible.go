package report

import (
	"fmt"
	"strings"
	"unicode"
)

// visible shows characters that change how text reads, as marks of direction,
// by their number. Escaping is the template's.
func visible(s string) string {
	odd := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	if strings.IndexFunc(s, odd) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if odd(r) {
			fmt.Fprintf(&b, "‹%U›", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
