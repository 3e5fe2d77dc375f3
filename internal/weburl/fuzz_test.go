package weburl

import (
	"strings"
	"testing"
)

// FuzzParse: what parses has a canonical form that parses to itself, carries
// no credentials, and can stand in a request line.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"http://h/", "HTTP://u:p@H:80/%7e/../a?b#c", "http://0x7f.1/", "http://[::ffff:1.2.3.4]/", "http://a;@b\\#c/", "http:///x", "https://пример.рф/ж?ё", "http://h/\t\n\x01%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(u.String())
		if err != nil || again != u {
			t.Errorf("%q: %q parses to %q, %v", s, u, again, err)
		}
		if strings.Contains(u.Host(), "@") || strings.ContainsAny(u.String(), " \t\r\n") || len(u.String()) > MaxLength {
			t.Errorf("%q: %q", s, u)
		}
	})
}

// FuzzParseFast: where parseFast answers, the full parser says the same.
func FuzzParseFast(f *testing.F) {
	for _, s := range []string{"http://a.b/c?d", "https://a.b", "http://1.2.3.4/", "http://a.b/./c", "http://a.0x1/", "http://xn--a/", "http://a-.b/", "http://a..b/", "https://a.b/%2e/c", "http://a.b/c/../d", "http://a.b:80/", "http://a.b/%41//", "http://a.b/c?d=/./e#f", "https://a.b#"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseFast(s)
		if !ok {
			return
		}
		if want, err := parseSlow(URL{}, s); err != nil || got != want {
			t.Fatalf("%q: got %s, want %s, %v", s, got, want, err)
		}
	})
}
