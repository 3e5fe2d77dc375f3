package fetch

import (
	"net/http/cookiejar"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"

	"curtsy/internal/weburl"
)

// FuzzCookies: whatever cookies a server sets, the Cookie field sent back is one line, and no cookie
// goes to another site.
func FuzzCookies(f *testing.F) {
	for _, s := range []string{"a=b", "a=b; Domain=com; Path=/", "a=\"b; c\"; Max-Age=9", "a=b\x00c; Domain=.h.example",
		"=;=", "__Host-x=1; Secure", "a=b; Domain=127.0.0.1"} {
		f.Add(s, "c=d; Path=/x")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
		if err != nil {
			t.Fatal(err)
		}
		c := &Client{o: Options{Cookies: jar}}
		x := &Exchange{URL: weburl.MustParse("http://h.example/x/y"),
			Header: map[string][]string{"Set-Cookie": {one, two}}}
		c.keepCookies(x)
		line := string(c.appendCookies(nil, Request{URL: x.URL}))
		if line != "" && (!strings.HasPrefix(line, "Cookie: ") || strings.IndexAny(line, "\r\n\x00") != len(line)-2) {
			t.Errorf("%q, %q: %q", one, two, line)
		}
		if other := c.appendCookies(nil, Request{URL: weburl.MustParse("http://other.example/x/y")}); len(other) > 0 {
			t.Errorf("%q, %q: another site gets %q", one, two, other)
		}
	})
}
