package mirror

import (
	"html"
	"strings"
	"unicode"

	"curtsy/internal/legible"
)

// visible is text from the network as a page may show it: escaped for HTML,
// and with what is invisible or turns the writing round shown as ‹U+202E›.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return html.EscapeString(legible.Marked(s, hidden))
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}
