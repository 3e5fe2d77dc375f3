package crawler

import (
	"net/http"
	"testing"
	"time"

	"curtsy/crawler/robotstxt"
	"curtsy/htmlmeta"
)

// FuzzMaxAge: an age is never negative and never longer than 69 years.
func FuzzMaxAge(f *testing.F) {
	for _, s := range []string{"max-age=60", "public, max-age=\"3600\"", "no-cache", "max-age=-1", "max-age=99999999999", "MAX-AGE = 1,,no-store", "max-age"} {
		f.Add(s, "private")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		age, ok := robotstxt.MaxAge(http.Header{"Cache-Control": {a, b}})
		if age < 0 || age >= 1<<31*time.Second || !ok && age != 0 {
			t.Errorf("%q, %q: %v, %v", a, b, age, ok)
		}
	})
}

// FuzzShown: the texts of a page lie in order within it, and its words are
// found in what is cut anywhere.
func FuzzShown(f *testing.F) {
	for _, s := range []string{"<p>text<script>if (a<b)</script>more", "<style>p{}", "<", "a<!-- > -->b", "<SCRIPT></script", "no markup"} {
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
