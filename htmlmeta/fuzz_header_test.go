package htmlmeta

import (
	"strings"
	"testing"
)

// FuzzLinkHeader checks that the targets are parts of the line, in order.
func FuzzLinkHeader(f *testing.F) {
	for _, s := range []string{`</a>; rel=next, <b>;rel="prev first";as=style`, `<a>;anchor="#x";rel=canonical`,
		`<a>;rel="un\"closed`, `<<>>;;;,,,`, `a, <b`, `<a> <b>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rest, n := s, 0
		eachHeaderLink(s, func(l headerLink) {
			at := strings.Index(rest, "<"+l.target+">")
			if at < 0 {
				t.Fatalf("%q: target %q is not in %q", s, l.target, rest)
			}
			rest = rest[at+1:]
			n++
		})
		if n > maxHeaderLinks {
			t.Errorf("%d links", n)
		}
	})
}

// FuzzRefresh checks that the URL of a refresh lies within its text.
func FuzzRefresh(f *testing.F) {
	for _, s := range []string{"5; url=/next", "0;URL='a b'", "url=x", "1.5,\"q", "0;url", "5", ";url=a",
		" 0 ; url = \"a'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, ok := parseRefresh(s)
		if ok && (at.from < 0 || at.to <= at.from || at.to > len(s)) {
			t.Errorf("%q: %v", s, at)
		}
	})
}

// FuzzCharset checks that a label is a part of its header line, and that a body is read without
// a panic whatever charset it claims.
func FuzzCharset(f *testing.F) {
	for _, s := range []string{"text/html; charset=koi8-r", "charset='utf-8'", "charset=\"x", "CHARSET = utf-16le ;",
		"charsetcharset=a", "charset=iso-2022-jp"} {
		f.Add(s, []byte("\xef\xbb\xbf<p>\xcf\xf0"))
	}
	f.Fuzz(func(t *testing.T, s string, body []byte) {
		if label := charsetIn(s); !strings.Contains(s, label) {
			t.Errorf("%q: label %q", s, label)
		}
		codeOf(charsetIn(s))
		codeByBOM(body)
		detect(body)
	})
}
