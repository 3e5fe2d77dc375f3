package mirror

import (
	"html"
	"strings"
	"unicode"

	"curtsy/internal/legible"
)

// visible escapes text from the network for HTML, and shows control, invisible and
// bidirectional characters as ‹U+202E›.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return html.EscapeString(legible.Marked(s, hidden))
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
}
