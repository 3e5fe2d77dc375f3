package htmlmeta

import (
	"strings"
	"testing"
)

func TestEachText(t *testing.T) {
	for page, want := range map[string]string{
		"":               "",
		"words":          "words",
		"<p>a<b>c</b> d": "a|c| d",
		"x<script>if (a<b) '</p>'</SCRIPT >y<style>z{}</style>w": "x|y|w",
		"a<script>no end":       "a",
		"a<br":                  "a",
		"<SCRIPT></script><p>q": "q",
	} {
		var got []string
		EachText([]byte(page), func(text []byte) { got = append(got, string(text)) })
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: got %q, want %q", page, s, want)
		}
	}
}
