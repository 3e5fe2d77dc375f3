package cli

import (
	"strings"
	"testing"
	"unicode"

	"curtsy/internal/legible"
)

// FuzzClean checks that no control sequence for terminals is left, that cleaning is idempotent,
// and that harmless text is unchanged.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "\x1b[31mred\x1b]0;title\a", "a\u202egpj.exe", "line\nnext\ttab\r", "\xff\xfe",
		"\u009b2J", "‹U+001B›"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		for _, r := range got {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("%q: %U is left in %q", s, r, got)
			}
		}
		if again := clean(got); again != got {
			t.Errorf("%q: %q, then %q", s, got, again)
		}
		if strings.IndexFunc(s, legible.Hidden) < 0 && !strings.ContainsRune(s, unicode.ReplacementChar) && got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}
