package htmlmeta

import (
	"net/http"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

// tagged returns the directives of Robots-Tag lines for curtsy, as words.
func tagged(lines ...string) string {
	d := ReadDirectives(http.Header{FromTag: lines}, Options{Agents: []string{"curtsy"}})
	var words []string
	for _, s := range d.Sources {
		words = append(words, s.Directive)
	}
	for _, s := range d.Usage {
		words = append(words, string(s.Category)+"="+string(s.Value))
	}
	return strings.Join(words, " ")
}

// draft-illyes-repext-03 §2.2: a List (RFC 9651) of product tokens.
func TestRobotsTag(t *testing.T) {
	for _, row := range []struct {
		lines []string
		want  string
	}{
		{[]string{"*;nosnippet, curtsy;noindex"}, "nosnippet noindex"},
		{[]string{"curtsy;noindex", "*;noarchive"}, "noindex noarchive"},
		{[]string{"CURTSY; noindex;nofollow"}, "noindex nofollow"},
		{[]string{"otherbot;noindex, curtsybot;noindex"}, ""},
		{[]string{"*;max-snippet=20;unavailable_after=@1900000000"},
			"max-snippet:20 unavailable_after:2030-03-17T17:46:40Z"},
		{[]string{`*;max-snippet="5";unavailable_after="25 Jun 2010 15:00:00 PST"`},
			"max-snippet:5 unavailable_after:2010-06-25T23:00:00Z"},
		{[]string{"*;max-snippet=-1;all;index"}, ""},
		{[]string{"*;none;noimageindex;notranslate;noai"}, "none noimageindex notranslate noai train-ai=n"},
		{[]string{"*;noindex=?0;nofollow=?1"}, "nofollow"},
		{[]string{"*"}, ""}, {[]string{""}, ""}, {nil, ""},
		{[]string{`"curtsy";noindex`}, ""}, {[]string{"(curtsy *);noindex"}, ""},
		// A field that does not parse is ignored as a whole (RFC 9651 §4.2).
		{[]string{"curtsy;noindex,"}, ""}, {[]string{"curtsy ;noindex"}, ""}, {[]string{"curtsy;NoIndex"}, ""},
		{[]string{"*;noindex", "*;"}, ""},
		{[]string{"noindex"}, ""}, {[]string{"curtsy: noindex"}, ""},
	} {
		if got := tagged(row.lines...); got != row.want {
			t.Errorf("%q: %q, want %q", row.lines, got, row.want)
		}
	}
}

// At least 8 KiB are read, and a member that is cut off is dropped.
func TestLongRobotsTag(t *testing.T) {
	for _, pad := range []int{8 << 10, maxTag - 60, maxTag + 100} {
		long := "curtsy;noindex, " + strings.Repeat("x;y, ", pad/5) + `*;a="b, c";nofollow, *;noarchive`
		want := "noindex"
		if len(long) <= maxTag {
			want = "noindex nofollow noarchive"
		}
		if got := tagged(long); got != want {
			t.Errorf("%d octets: %q, want %q", len(long), got, want)
		}
	}
}

// The directives of Robots-Tag, X-Robots-Tag and meta elements are combined.
func TestRobotsTagAddsUp(t *testing.T) {
	h := http.Header{FromTag: {"*;noindex"}, FromHeader: {"nofollow"}, "Content-Type": {"text/html"}}
	d := Read(Page{Header: h, Body: []byte(`<meta name=robots content=noarchive>`)}, Options{}).Directives
	if !d.NoIndex || !d.NoFollow || !d.NoArchive || len(d.Sources) != 3 {
		t.Errorf("%+v", d)
	}
}

// The usage preferences of documents.
func TestUsageOfDocuments(t *testing.T) {
	h := http.Header{"Content-Type": {"text/html"},
		"Link":     {`</l.xml>; rel="license"; type="application/rsl+xml", </other>; rel=license`},
		FromHeader: {"otherbot: noai, curtsy: noimageai"}}
	body := `<meta name=tdm-reservation content=1><meta name=curtsy content=noai><link rel="nofollow license" type=application/rsl+xml href=m.xml>`
	d := Read(Page{Header: h, Body: []byte(body), URL: weburl.MustParse("http://h/a/")},
		Options{Agents: []string{"curtsy"}}).Directives
	var got []string
	for _, s := range d.Usage {
		got = append(got, s.String())
	}
	want := []string{"train-ai=n for images (header: otherbot: noai, curtsy: noimageai)",
		"license http://h/l.xml (header: http://h/l.xml)",
		"tdm=n (meta: tdm-reservation 1)", "train-ai=n (meta: noai)",
		"license http://h/a/m.xml (link: http://h/a/m.xml)"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func FuzzRobotsTag(f *testing.F) {
	f.Add("*;nosnippet, curtsy;noindex;max-snippet=3;unavailable_after=@1", "")
	f.Add(`curtsy;unavailable_after="25 Jun 2010"`, "*;noai")
	f.Fuzz(func(t *testing.T, a, b string) {
		d := ReadDirectives(http.Header{FromTag: {a, b}}, Options{Agents: []string{"curtsy"}})
		if len(d.Sources) > maxSources || d.MaxSnippet != nil && *d.MaxSnippet < 0 {
			t.Fatalf("%+v", d)
		}
	})
}
