package weburl

import (
	"slices"
	"strings"
	"testing"
)

// FuzzParse checks that the canonical form of a URL parses to itself, has no credentials, and
// is valid in a request line.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"http://h/", "HTTP://u:p@H:80/%7e/../a?b#c", "http://0x7f.1/",
		"http://[::ffff:1.2.3.4]/", "http://a;@b\\#c/", "http:///x", "https://пример.рф/ж?ё", "http://h/\t\n\x01%zz"} {
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
		if strings.Contains(u.Host(), "@") || strings.ContainsAny(u.String(), " \t\r\n") ||
			len(u.String()) > MaxLength {
			t.Errorf("%q: %q", s, u)
		}
	})
}

// FuzzSURT checks that the key of a URL is one lower-case word, and the same for URLs that
// differ only in scheme, case and order of query arguments.
func FuzzSURT(f *testing.F) {
	f.Add("http://www.Example.com:8080/A/b?C=d", "http://example.com/")
	f.Add("http://1.2.3.4/", "http://4.3.2.1/")
	f.Add("http://[::1]:80/x", "http://[::1]/X")
	f.Add("http://a.b./", "http://a.b/")
	f.Fuzz(func(t *testing.T, a, b string) {
		u, err := Parse(a)
		if err != nil {
			return
		}
		key := u.SURT()
		if strings.ContainsAny(key, " \t\r\n") || key != strings.ToLower(key) || !strings.Contains(key, ")/") {
			t.Errorf("%q: %q", a, key)
		}
		v, err := Parse(b)
		if err != nil {
			return
		}
		bare := func(u URL) string {
			_, rest, _ := strings.Cut(strings.ToLower(u.String()), "://")
			rest = withoutWWW(u.Hostname()) + strings.TrimSuffix(rest[len(u.Hostname()):], "?")
			path, query, _ := strings.Cut(rest, "?")
			args := strings.Split(query, "&")
			slices.Sort(args)
			return path + "?" + strings.Join(args, "&")
		}
		if (key == v.SURT()) != (bare(u) == bare(v)) {
			t.Errorf("%q and %q have the keys %q and %q", a, b, key, v.SURT())
		}
	})
}

// FuzzParseFast checks that parseFast, if it succeeds, agrees with the full parser.
func FuzzParseFast(f *testing.F) {
	for _, s := range []string{"http://a.b/c?d", "https://a.b", "http://1.2.3.4/", "http://a.b/./c", "http://a.0x1/",
		"http://xn--a/", "http://a-.b/", "http://a..b/", "https://a.b/%2e/c", "http://a.b/c/../d", "http://a.b:80/",
		"http://a.b/%41//", "http://a.b/c?d=/./e#f", "https://a.b#"} {
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
