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
