package weburl

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"http://Example.COM", "http://example.com/"},
		{"HTTP://HOST:80/a?b#c", "http://host/a?b"},
		{"https://h:443/", "https://h/"},
		{"http://user:secret@h/x", "http://h/x"},
		{" \thttp://h/a b ", "http://h/a%20b"},
		{"http://h/a\n/b", "http://h/a/b"},
		{"http://h\\x", "http://h/x"},
		{"http://почта.рф/п?й", "http://xn--80a1acny.xn--p1ai/%D0%BF?%D0%B9"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://h/a/../b/./c", "http://h/b/c"},
		{"http://h/%2e%2e/x", "http://h/x"},
		{"http://h//a//b", "http://h//a//b"},
		{"http://[::1]:8080/x", "http://[::1]:8080/x"},
		{"javascript:alert(1)", ""},
		{"ftp://h/", ""},
		{"/relative", ""},
		{"http://a%2fb/", ""},
		{"http://h/" + strings.Repeat("a", 9000), ""},
		{"", ""},
	} {
		u, err := Parse(c.in)
		if (err != nil) != (c.want == "") || u.String() != c.want {
			t.Errorf("Parse(%.60q) = %q, %v; want %q", c.in, u, err, c.want)
		}
	}
}

func TestParts(t *testing.T) {
	u := MustParse("https://www.example.com:8443/Dir/page?q=1")
	got := []string{u.Scheme(), u.Host(), u.Hostname(), u.Port(), u.Origin(), u.Path(), u.Query(), u.Target(), u.SURT()}
	want := []string{"https", "www.example.com:8443", "www.example.com", "8443", "https://www.example.com:8443",
		"/Dir/page", "q=1", "/Dir/page?q=1", "com,example:8443)/dir/page?q=1"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("part %d = %q, want %q", i, got[i], want[i])
		}
	}
	if v := MustParse("http://[::1]/"); v.Hostname() != "[::1]" || v.Port() != "80" {
		t.Errorf("IPv6: hostname %q port %q", v.Hostname(), v.Port())
	}
}

func TestResolve(t *testing.T) {
	base := MustParse("http://h/a/b/c.html?x=1")
	for _, c := range []struct{ ref, want string }{
		{"", "http://h/a/b/c.html?x=1"}, {"#f", "http://h/a/b/c.html?x=1"},
		{"d.html", "http://h/a/b/d.html"}, {"../d.html#x", "http://h/a/d.html"},
		{"../../../d", "http://h/d"}, {"./", "http://h/a/b/"}, {"..", "http://h/a/"},
		{"?y", "http://h/a/b/c.html?y"}, {"/r?s=/../t", "http://h/r?s=/../t"},
		{"//o/x", "http://o/x"}, {"http://h/z", "http://h/z"}, {"x/../y", "http://h/a/b/y"},
		{".hidden", "http://h/a/b/.hidden"}, {"x/.hidden", "http://h/a/b/x/.hidden"},
		{"http://h?q", "http://h/?q"}, {"a\tb", "http://h/a/b/ab"}, {"../x?a#b", "http://h/a/x?a"},
	} {
		u, err := base.Resolve(c.ref)
		if err != nil || u.String() != c.want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", c.ref, u, err, c.want)
		}
	}
}

func TestResolveInCharset(t *testing.T) {
	base := MustParse("http://h/")
	for _, c := range []struct {
		enc       encoding.Encoding
		ref, want string
	}{
		{charmap.Windows1251, "/путь?q=да☃", "http://h/%D0%BF%D1%83%D1%82%D1%8C?q=%E4%E0%26%239731%3B"},
		{charmap.Windows1251, "?☃☃да=1&ж#☃", "http://h/?%26%239731%3B%26%239731%3B%E4%E0=1&%E6"},
		{japanese.ISO2022JP, "?q=日本&r=x語", "http://h/?q=%1B$BF|K\\%1B(B&r=x%1B$B8l%1B(B"},
		{japanese.ISO2022JP, "?q=日☃本", "http://h/?q=%1B$BF|%1B(B%26%239731%3B%1B$BK\\%1B(B"},
		{japanese.ISO2022JP, "?q=ｱ", "http://h/?q=%1B$B%%22%1B(B"},
		{japanese.ShiftJIS, "?q=ソ", "http://h/?q=%83\\"},
	} {
		u, err := base.ResolveIn(c.ref, c.enc)
		if err != nil || u.String() != c.want {
			t.Errorf("ResolveIn(%q) = %q, %v; want %q", c.ref, u, err, c.want)
		}
	}
}

// FuzzResolve checks that the fast path, if it succeeds, agrees with the full parser.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"../a/b", "./x?y", "a:b", "/a/./b", "..", "../..//", "a%2e/", "?", "/?x:y", "./?a",
		"..?a", "h", "http://h/", "http://h"} {
		f.Add("http://h/d/e?f", s)
	}
	f.Fuzz(func(t *testing.T, b, ref string) {
		base, err := Parse(b)
		if err != nil {
			return
		}
		fast, ok := base.resolveFast(ref)
		if !ok {
			return
		}
		slow, err := parseSlow(base, ref)
		if err != nil || fast != slow {
			t.Fatalf("base %q ref %q: fast %+v, full parser %+v, %v", b, ref, fast, slow, err)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	base := MustParse("http://localhost/api/java.base/java/lang/Object.html")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := base.Resolve("../../../java.base/java/util/List.html#add"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRoutes(t *testing.T) {
	for fragment, want := range map[string][2]string{
		"": {}, "#top": {"", "#top"}, "#": {"", "#"}, "#/": {}, "#!": {}, "#!/": {}, "#/a": {"#/a", ""},
		"#!a": {"#!a", ""}, "#/a/b?x=1": {"#/a/b?x=1", ""},
		"#/a?id=part": {"#/a", "#part"}, "#/?id=part": {"", "#part"}, "#/a b": {"", ""}, "#/<": {"", ""},
		"#/%20é": {"", ""}, "#/a#b": {"#/a#b", ""},
	} {
		if route, part := CutRoute(fragment); route != want[0] || part != want[1] {
			t.Errorf("%q: got %q and %q, want %q", fragment, route, part, want)
		}
	}
	u, err := ParsePage("HTTP://h/dir/page?q=1#/a/b?c=d")
	if err != nil || u.String() != "http://h/dir/page?q=1#/a/b?c=d" || u != FromCanonical(u.String()) {
		t.Errorf("got %v, %v", u, err)
	}
	if u.Target() != "/dir/page?q=1" || u.Path() != "/dir/page" || u.Query() != "q=1" || u.Route() != "#/a/b?c=d" ||
		u.Page() != MustParse("http://h/dir/page?q=1") {
		t.Errorf("parts of %v", u)
	}
	for ref, want := range map[string]string{"x": "http://h/dir/x", "": "http://h/dir/page?q=1",
		"#/c": "http://h/dir/page?q=1", "?r": "http://h/dir/page?r", "//o/é": "http://o/%C3%A9"} {
		if got, err := u.Resolve(ref); err != nil || got != MustParse(want) {
			t.Errorf("%q: got %v, %v", ref, got, err)
		}
	}
}
