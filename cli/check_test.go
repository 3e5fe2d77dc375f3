package cli

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
)

// refusedWith expects checking c to return a usage error that contains each want.
func refusedWith(t *testing.T, c config, want ...string) {
	t.Helper()
	_, err := crawlOptions(&c, weburl.MustParse("http://localhost/"), nil)
	if err == nil || exitCode(err) != exitUsage {
		t.Errorf("%v, want a usage error with %q", err, want)
		return
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %q", part, err)
		}
	}
}

func TestNoAmountIsBelowNothing(t *testing.T) {
	n := 0
	for key, v := range values(defaults()) {
		text, ok := map[reflect.Type]string{reflect.TypeFor[time.Duration](): "-5s", reflect.TypeFor[int](): "-3",
			reflect.TypeFor[float64](): "-0.5"}[reflect.TypeOf(v)]
		if !ok {
			continue
		}
		n++
		c := defaults()
		name := variable(key)
		if err := readEnv(&c, func(n string) (string, bool) { return text, n == name }); err != nil {
			t.Fatal(err)
		}
		refusedWith(t, c, key+": "+text)
	}
	if n < 20 {
		t.Errorf("%d amounts were tried, there are more", n)
	}
	for _, adaptive := range []string{"NaN", "Inf"} {
		c := defaults()
		_ = setValue(reflect.ValueOf(&c.Politeness.Adaptive).Elem(), adaptive)
		refusedWith(t, c, "politeness.adaptive: ")
	}
}

func TestSegmentsStayInTheirDirectory(t *testing.T) {
	for _, prefix := range []string{"../../x", "a/b", `a\b`, ".hidden", "..", "", "a b", "ä", "x\n",
		strings.Repeat("x", 101)} {
		c := defaults()
		c.Storage.Prefix = prefix
		refusedWith(t, c, "storage.prefix: ")
	}
	for _, prefix := range []string{"curtsy", "a.b-c_9", "-", strings.Repeat("x", 100)} {
		c := defaults()
		c.Storage.Prefix = prefix
		if _, err := crawlOptions(&c, weburl.MustParse("http://localhost/"), nil); err != nil {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

func TestURLsInHintsAreOneWordForAShell(t *testing.T) {
	for s, want := range map[string]string{
		"http://a.test/b": "http://a.test/b", "http://a.test/?b=c&d": "'http://a.test/?b=c&d'", "it's": `'it'\''s'`,
		"": "''", "my site": "'my site'",
	} {
		if got := quoted(s); got != want {
			t.Errorf("%q is %s, want %s", s, got, want)
		}
	}
}

func TestURLsThatHoldASecretAreKnown(t *testing.T) {
	for s, want := range map[string]bool{
		"http://a:b@c/": true, "http://a@c/": true, `http:\\a@c/`: true, "http:a@c/": true, "http://c/@": false,
		"http://c?a@b": false, "http://c#a@b": false, "http://c/": false,
	} {
		if got := secretIn(s); got != want {
			t.Errorf("%q: %t, want %t", s, got, want)
		}
	}
}

func TestOneThingIsNotMany(t *testing.T) {
	if got := legible.Count(0, "page") + ", " + legible.Count(1, "page") + ", " +
		legible.Count(int64(2), "page"); got != "0 pages, 1 page, 2 pages" {
		t.Error(got)
	}
}

func TestPathsOfAnArchiveAreReadFromItsSeed(t *testing.T) {
	seed := weburl.MustParse("http://127.0.0.1:8000/docs/")
	for s, want := range map[string]string{
		"/a?b": "http://127.0.0.1:8000/a?b", "index.html": "http://127.0.0.1:8000/docs/index.html",
		"?q":               "http://127.0.0.1:8000/docs/?q",
		"127.0.0.1:8000/a": "http://127.0.0.1:8000/a", "127.0.0.1:8000": "http://127.0.0.1:8000/",
		"https://b.test": "https://b.test/",
		"//b.test/c":     "http://b.test/c", "ftp://b.test/": "", "http://": "", "http://a@b.test/": "",
		"mailto:a@b.test": "",
	} {
		got, err := urlAt(seed, s)
		if got.String() != want && (want != "" || err == nil) {
			t.Errorf("%q is %s, %v; want %s", s, got, err, want)
		}
		if (err != nil) != (want == "") || err != nil && exitCode(err) != exitUsage {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestHeaderFieldsThatWouldNotBeSentAreRefused(t *testing.T) {
	for _, f := range []struct{ name, value, want string }{
		{"User-Agent", "Mozilla/5.0", "built from agent and contact"},
		{"user-agent", "Mozilla/5.0", "built from agent and contact"},
		{"Host", "other.test", "belongs to the connection"},
		{"connection", "close", "belongs to the connection"},
		{"Content-Length", "7", "belongs to the connection"},
		{"Cookie", "a=b", "would go to every host"},
		{"Authorization", "Basic eA==", "would go to every host"},
		{"proxy-authorization", "Basic eA==", "would go to every host"},
		{"X Y", "z", "is not a valid header field name"},
		{"X:", "z", "is not a valid header field name"},
		{"", "z", "is not a valid header field name"},
		{"X-A", "b\r\nX-C: d", "has a line break in its value"},
		{"X-A", "b\x00", "has a control character in its value"},
	} {
		c := defaults()
		c.Fetch.Header = map[string]string{"Accept-Language": "de", f.name: f.value}
		refusedWith(t, c, "fetch.header: ", f.want)
	}
	c := defaults()
	c.Fetch.Header = map[string]string{"X-A": "1", "x-a": "2"}
	refusedWith(t, c, "is given twice")
	c.Fetch.Header = map[string]string{"X-A": "1", "Accept-Encoding": "identity"}
	if o, err := crawlOptions(&c, weburl.MustParse("http://localhost/"), nil); err != nil || len(o.Fetch.Header) != 2 {
		t.Errorf("%v, %v", o.Fetch.Header, err)
	}
}

// An archive whose pages were rendered is explained and repaired on a machine without a browser.
func TestWhatSendsNoRequestNeedsNoBrowser(t *testing.T) {
	t.Setenv("PATH", "")
	c := defaults()
	c.Render.Pages = "auto"
	if o, err := offlineOptions(&c, weburl.MustParse("https://example.org/"), nil); err != nil || o.Browser != nil {
		t.Errorf("%v, %v", o.Browser, err)
	}
}
