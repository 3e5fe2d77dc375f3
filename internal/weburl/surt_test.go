package weburl

import "testing"

// TestSURT compares with the results of getSurt in warcio.js 2.4.11.
func TestSURT(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://www.example.com/", "com,example)/"},
		{"https://www2.Example.com:8443/A/b?C=d&a=1&B", "com,example:8443)/a/b?a=1&b&c=d"},
		{"http://example.com/?", "com,example)/"},
		{"http://127.0.0.1:8080/x", "1,0,0,127:8080)/x"},
		{"http://[::1]:8080/X", "[::1]:8080)/x"},
		{"http://www.com/", "com)/"},
		{"http://wwwx.com/", "com,wwwx)/"},
		{"http://www12a.com/", "com,www12a)/"},
		{"http://www.www.com/", "com,www)/"},
		{"http://a.b./", ",b,a)/"},
		{"http://h/a?b=2&a=1&a=0&&", "h)/a?&&a=0&a=1&b=2"},
		{"http://h/%D0%96?q=%D0%B6", "h)/%d0%96?q=%d0%b6"},
		{"https://h:80/", "h:80)/"},
		{"http://xn--e1afmkfd.xn--p1ai/", "xn--p1ai,xn--e1afmkfd)/"},
		{"http://h/?a?b&0", "h)/?0&a?b"},
	} {
		if got := MustParse(c.url).SURT(); got != c.want {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
}
