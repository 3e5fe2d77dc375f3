package mirror

import (
	"fmt"
	"html"
	"strings"
	"unicode"
)

// visible is text from the network as a page may show it: escaped for HTML,
// and with what is invisible or turns the writing round shown as ‹U+202E›.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, hidden) >= 0 {
		var b strings.Builder
		for _, r := range s {
			if hidden(r) {
				fmt.Fprintf(&b, "‹%U›", r)
			} else {
				b.WriteRune(r)
			}
		}
		s = b.String()
	}
	return html.EscapeString(s)
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}
