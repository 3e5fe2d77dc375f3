package visit

import (
	"testing"

	"curtsy/htmlmeta"
)

// FuzzShown: the text found in a page is never longer than the page, whatever its markup.
func FuzzShown(f *testing.F) {
	for _, s := range []string{"<p>text<script>if (a<b)</script>more", "<style>p{}", "<", "a<!-- > -->b",
		"<SCRIPT></script", "no markup"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		htmlmeta.EachText(b, func(text []byte) {
			n += len(text)
			eachWord(text, func(uint64) {})
		})
		if n > len(b) || shownText(b) > n {
			t.Errorf("%d octets of text in %d", n, len(b))
		}
	})
}
