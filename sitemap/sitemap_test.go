package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"curtsy/internal/weburl"
)

// read reads a sitemap and joins its entries: "url", "-> child", "~ alternate".
func readAll(t testing.TB, body string) (string, Summary) {
	t.Helper()
	var out []string
	sum, err := Read(strings.NewReader(body), weburl.MustParse("http://h/dir/sitemap.xml"),
		func(e Entry, child bool) error {
			switch {
			case child:
				e.Loc = "-> " + e.Loc
			case e.Alternate:
				e.Loc = "~ " + e.Loc
			}
			out = append(out, e.Loc)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " "), sum
}

func packed(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.String()
}

func encoded(s string, e interface{ String(string) (string, error) }) string {
	out, err := e.String(s)
	if err != nil {
		panic(err)
	}
	return out
}

func TestRead(t *testing.T) {
	const head = `<?xml version="1.0" encoding="UTF-8"?>`
	const set = head + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	one := set + "<url><loc>http://h/a</loc></url></urlset>"
	for _, c := range []struct{ name, body, want, kind string }{
		{"a urlset", one, "http://h/a", "urlset"},
		{"nothing", "", "", "none"},
		{"blanks", " \n\ufeff\n", "", "none"},
		{"an empty urlset", set + "</urlset>", "", "urlset"},
		{"an empty urlset in short", head + `<urlset/>`, "", "urlset"},
		{"an index", head + `<sitemapindex xmlns="http://www.google.com/schemas/sitemap/0.84"><sitemap><loc>http://h/1.xml</loc><lastmod>2004</lastmod></sitemap><sitemap><loc>2.xml.gz</loc></sitemap></sitemapindex>`, "-> http://h/1.xml -> http://h/dir/2.xml.gz", "index"},
		{"no namespace, no declaration", "<urlset><url><loc>http://h/a</loc></url></urlset>", "http://h/a", "urlset"},
		{"a prefixed namespace", `<s:urlset xmlns:s="x"><s:url><s:loc>http://h/a</s:loc></s:url></s:urlset>`,
			"http://h/a", "urlset"},
		{"a wrong namespace", `<urlset xmlns="http://www.w3.org/1999/xhtml"><url><loc>http://h/a</loc></url></urlset>`,
			"http://h/a", "urlset"},
		{"gzip", packed(one), "http://h/a", "urlset"},
		{"gzip of text", packed("http://h/a\r\n"), "http://h/a", "text"},
		{"text", "http://h/a\r\nhttps://h/b\rhttp://h/c?x=1&y=2\n\n", "http://h/a https://h/b http://h/c?x=1&y=2",
			"text"},
		{"text with a byte order mark and blanks", "\ufeff  http://h/a \n\u00a0http://h/b\u200b",
			"http://h/a http://h/b", "text"},
		{"text with lines that are none", "# urls\nhttp://h/a\n/relative\n", "http://h/a", "text"},
		{"prose", "Hello, world.\nSee http://h/a for more.\n", "", "none"},
		{"json", `{"urls":["http://h/a"]}`, "", "none"},
		{"an HTML page", "<!DOCTYPE html><html><body><a href='http://h/a'>x</a></body></html>", "", "none"},
		{"an HTML page without doctype", "<html><url><loc>http://h/a</loc></url></html>", "", "none"},
		{"another XML", "<svg><url><loc>http://h/a</loc></url></svg>", "", "none"},
		{"an HTML doctype before a urlset", "<!doctype HTML><urlset><url><loc>http://h/a</loc></url></urlset>", "",
			"none"},
		{"blanks before the declaration", "\n  " + one, "http://h/a", "urlset"},
		{"a byte order mark", "\ufeff" + one, "http://h/a", "urlset"},
		{"CDATA", set + "<url><loc><![CDATA[http://h/a?x=1&y=2]]></loc></url></urlset>",
			"http://h/a?x=1&y=2", "urlset"},
		{"escaped and raw &", set + "<url><loc>http://h/?a=1&amp;b=2&c=3&#38;d&apos;</loc></url></urlset>",
			"http://h/?a=1&b=2&c=3&d%27", "urlset"},
		{"blanks round a loc", set + "<url><loc>\n\t \u00a0http://h/a\u200b\n</loc></url></urlset>",
			"http://h/a", "urlset"},
		{"relative loc", set + "<url><loc>/a</loc></url><url><loc>b?c</loc></url></urlset>",
			"http://h/a http://h/dir/b?c", "urlset"},
		{"cut off in a loc", set + "<url><loc>http://h/a</loc></url><url><loc>http://h/b", "http://h/a", "urlset"},
		{"cut off after a loc", set + "<url><loc>http://h/a</loc><lastm", "http://h/a", "urlset"},
		{"a url that is not closed", set + "<url><loc>http://h/a</loc><url><loc>http://h/b</loc></url></urlset>",
			"http://h/a http://h/b", "urlset"},
		{"image:loc and video:content_loc are no pages",
			set + `<url><image:image><image:loc>http://h/i.png</image:loc></image:image><loc>http://h/a</loc><video:video><video:content_loc>http://h/v</video:content_loc><loc>http://h/w</loc></video:video></url></urlset>`, "http://h/a", "urlset"},
		{"alternates", set + `<url><loc>http://h/a</loc><xhtml:link rel="alternate" hreflang="de" href="http://h/de?x&amp;y"/></url></urlset>`, "~ http://h/de?x&y http://h/a", "urlset"},
		{"comments and instructions", set + "<!-- <url><loc>http://h/no</loc></url> --><?x <url>?><url><!----><loc>http://h/<!-- x -->a</loc></url></urlset>", "http://h/a", "urlset"},
		{"gzip four times", packed(packed(packed(packed(one)))), "http://h/a", "urlset"},
		{"gzip five times", packed(packed(packed(packed(packed(one))))), "", "none"},
		{"a DTD, its entities in a URL", "<?xml version='1.0'?><!DOCTYPE urlset [<!ENTITY e 'http://h/no'><!ELEMENT x (y>z)>]><urlset><url><loc>http://h/&e;</loc></url><url><loc>&e;</loc></url><url><loc>http://h/a&b=1;</loc></url></urlset>", "http://h/a&b=1;", "urlset"},
		{"an entity after CDATA and one of a long name",
			"<!DOCTYPE urlset [<!ENTITY a-very-long-name 'x'>]><urlset><url><loc><![CDATA[http://h/&a;]]>&a-very-long-name;</loc></url><url><loc><![CDATA[http://h/&a;]]></loc></url></urlset>", "http://h/&a;", "urlset"},
		{"entities of an external DTD", "<!DOCTYPE urlset SYSTEM 'http://h/x.dtd'><urlset><url><loc>http://h/&e;</loc></url></urlset>", "", "urlset"},
		{"parameter entities", "<!DOCTYPE urlset [<!ENTITY % p SYSTEM 'file:///etc/passwd'>%p;]><urlset><url><loc>http://h/&e;</loc></url></urlset>", "", "urlset"},
		{"an entity in an attribute", "<!DOCTYPE feed [<!ENTITY e 'x'>]><feed><entry><link href='http://h/&e;'/></entry><entry><link href='http://h/&amp;a'/></entry></feed>", "http://h/&a", "atom"},
		{"a sitemap in an entity", "<!DOCTYPE urlset [<!ENTITY e ']><urlset><url><loc>http://h/no</loc></url></urlset>'>]><urlset><url><loc>http://h/a</loc></url></urlset>", "http://h/a", "urlset"},
		{"a sitemap in a comment and an instruction of the DTD",
			"<!DOCTYPE urlset [<!-- it's ]> <urlset><url><loc>http://h/no</loc> --><?x ']> <urlset><url><loc>http://h/no</loc>?>]><urlset><url><loc>http://h/a</loc></url></urlset>", "http://h/a", "urlset"},
		{"an & without a DTD", "<!DOCTYPE urlset><urlset><url><loc>http://h/?a&e;</loc></url></urlset>",
			"http://h/?a&e;", "urlset"},
		{"the mark of UTF-16 before UTF-8", "\xff\xfe" + one, "http://h/a", "urlset"},
		{"the mark of UTF-16 before a text", "\xfe\xffhttp://h/a\n", "http://h/a", "text"},
		{"UTF-32", encoded(one, utf32.UTF32(utf32.BigEndian, utf32.ExpectBOM).NewEncoder()), "http://h/a", "urlset"},
		{"other schemes and none", set + "<url><loc>ftp://h/a</loc></url><url><loc>javascript:x</loc></url><url></url><url><loc/></url></urlset>", "", "urlset"},
		{"a loc of 2,048 octets", set + "<url><loc>http://h/" + strings.Repeat("a", 2039) +
			"</loc></url><url><loc>http://h/b</loc></url></urlset>", "http://h/b", "urlset"},
		{"RSS 2.0", `<rss version="2.0"><channel><title>t</title><link>http://h/</link><item><title>x</title><link>http://h/a</link><guid>http://h/g</guid></item><item><guid isPermaLink="true">http://h/b</guid></item><item><guid>http://h/c</guid></item><item><guid isPermaLink="false">http://h/d</guid></item></channel></rss>`, "http://h/a http://h/b http://h/c", "rss"},
		{"RSS 2.0 with atom:link", `<rss><channel><atom:link href="http://h/feed"/><item><atom:link href="http://h/no"/><link>http://h/a</link></item></channel></rss>`, "http://h/a", "rss"},
		{"RSS 1.0", `<rdf:RDF xmlns:rdf="x"><channel rdf:about="http://h/"><link>http://h/</link></channel><item rdf:about="http://h/a"><title>t</title><link>http://h/a</link><dc:date>2005-01-01</dc:date></item></rdf:RDF>`, "http://h/a", "rss"},
		{"Atom 1.0", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://h/"/><entry><link rel="edit" href="http://h/e"/><link rel="alternate" href="http://h/a"/><updated>2003-12-13T18:30:02Z</updated></entry><entry><link href="/b"/></entry></feed>`, "http://h/a http://h/b", "atom"},
		{"Atom with xml:base", `<feed xml:base="http://h/base/"><entry xml:base="sub/"><link href="e1"/></entry><entry><link href="e2"/></entry><entry><link xml:base="/x/" href="e3"/></entry></feed>`, "http://h/base/sub/e1 http://h/base/e2 http://h/x/e3", "atom"},
		{"Atom 0.3", `<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><link rel="alternate" type="text/html" href="http://h/a"/><modified>2003-12-13T18:30:02Z</modified></entry></feed>`, "http://h/a", "atom"},
		{"UTF-16", encoded("<?xml version='1.0' encoding='UTF-16'?><urlset><url><loc>http://h/ж</loc></url></urlset>",
			unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewEncoder()), "http://h/%D0%B6", "urlset"},
		{"UTF-16 without a mark", encoded(one, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder()),
			"http://h/a", "urlset"},
		{"windows-1251", encoded(`<?xml version="1.0" encoding="windows-1251"?><urlset><url><loc>http://h/ж</loc></url></urlset>`, charmap.Windows1251.NewEncoder()), "http://h/%D0%B6", "urlset"},
		{"a charset nobody knows", `<?xml version="1.0" encoding="x-y"?><urlset><url><loc>http://h/a</loc></url></urlset>`, "http://h/a", "urlset"},
		{"depth", "<urlset>" + strings.Repeat("<x>", 100000) + strings.Repeat("</x>", 100000) +
			"<url><loc>http://h/a</loc></url></urlset>", "http://h/a", "urlset"},
		{"a name in two cases", "<urlset><URL><LOC>http://h/no</LOC></URL><url><loc>http://h/a</loc></url></urlset>",
			"http://h/a", "urlset"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, sum := readAll(t, c.body)
			if got != c.want || string(sum.Kind) != c.kind {
				t.Errorf("got %q of kind %q (%+v); want %q of kind %q", got, sum.Kind, sum, c.want, c.kind)
			}
		})
	}
}

func TestSitemapDates(t *testing.T) {
	body := "<urlset><url><loc>http://h/a</loc><lastmod>soon</lastmod><priority>0.8</priority></url><url><lastmod>2020-01-01</lastmod><loc>http://h/b</loc><priority>7</priority></url></urlset>"
	var got []Entry
	Read(strings.NewReader(body), weburl.URL{}, func(e Entry, _ bool) error { got = append(got, e); return nil })
	if len(got) != 2 || !got[0].LastMod.IsZero() || got[0].Priority != 0.8 || got[1].LastMod.Year() != 2020 ||
		got[1].Priority != -1 {
		t.Errorf("entries = %+v", got)
	}
}

func TestSitemapLimits(t *testing.T) {
	many := func(item, root string, n int) string {
		return "<" + root + ">" + strings.Repeat("<"+item+"><loc>http://h/a</loc></"+item+">", n) + "</" + root + ">"
	}
	for _, c := range []struct {
		name, body string
		urls       int
		children   int
		truncated  bool
	}{
		{"50,000 URLs", many("url", "urlset", 50_000), 50_000, 0, false},
		{"50,001 URLs", many("url", "urlset", 50_001), 50_000, 0, true},
		{"50,001 children", many("sitemap", "sitemapindex", 50_001), 0, 50_000, true},
		{"50,001 lines", strings.Repeat("http://h/a\n", 50_001), 50_000, 0, true},
		{"a bomb of 51 MiB", packed("<urlset><url><loc>http://h/a</loc></url>" + strings.Repeat(" ", 51<<20)), 1, 0,
			true},
		{"a bomb in a bomb", packed(packed("<urlset><url><loc>http://h/a</loc></url>" + strings.Repeat(" ", 51<<20))),
			1, 0, true},
		{"51 MiB of empty members in gzip", packed(strings.Repeat(packed(""), 51<<20/len(packed("")))), 0, 0, true},
		{"a text node of 2 MB", "<urlset><url><loc>" + strings.Repeat("a", 2<<20) + "</loc></url></urlset>", 0, 0,
			false},
		{"an attribute of 2 MB", "<urlset><url a='" + strings.Repeat("a", 2<<20) +
			"'><loc>http://h/a</loc></url></urlset>", 1, 0, false},
		{"cut off", "<urlset><url><loc>http://h/a</loc></url>", 1, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			sum, err := Read(strings.NewReader(c.body), weburl.MustParse("http://h/"),
				func(Entry, bool) error { n++; return nil })
			if err != nil || sum.URLs != c.urls || sum.Children != c.children || n != c.urls+c.children ||
				(sum.Truncated != "") != c.truncated {
				t.Errorf("%+v, %v, %d visited", sum, err, n)
			}
		})
	}
}

func TestSitemapScopeAndErrors(t *testing.T) {
	body := "http://h/a\nhttp://h:80/b\nhttps://h/c\nhttp://h:81/d\nhttp://o/e\n"
	sum, _ := Read(strings.NewReader(body), weburl.MustParse("http://h/"), func(Entry, bool) error { return nil })
	if sum.URLs != 5 || sum.OutOfScope != 3 {
		t.Errorf("%+v; want 5 URLs, 3 out of scope", sum)
	}
	stop := errors.New("stop")
	if _, err := Read(strings.NewReader(body), weburl.URL{}, func(Entry, bool) error { return stop }); err != stop {
		t.Errorf("visit's error is lost: %v", err)
	}
	n := 0
	broken := io.MultiReader(strings.NewReader("http://h/a\nhttp://h/b\n"), iotest.ErrReader(stop))
	if _, err := Read(broken, weburl.URL{}, func(Entry, bool) error { n++; return nil }); err != stop || n != 2 {
		t.Errorf("the reader's error: %v after %d entries", err, n)
	}
}

// TestSitemapCutOffGzip checks that what was decompressed before the cut is kept.
func TestSitemapCutOffGzip(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "http://h/%x\n", i*i*i)
	}
	whole := packed(b.String())
	_, sum := readAll(t, whole[:len(whole)*3/4])
	if sum.URLs < 10_000 || sum.URLs > 16_000 || sum.Truncated != "cut off" {
		t.Errorf("%+v; want about 3/4 of 20,000 URLs, cut off", sum)
	}
}

// FuzzSitemap checks that nothing panics, that the counts are right, and that every loc is a
// URL.
func FuzzSitemap(f *testing.F) {
	for _, s := range []string{
		"<urlset><url><loc>http://h/a</loc><lastmod>2005-01-01</lastmod></url></urlset>", "http://h/a\nhttp://h/b",
		"<rss><channel><item><link>http://h/</link></item></channel></rss>",
		"<feed><entry><link href='/x'/></entry></feed>",
		"<!DOCTYPE x [<!ENTITY", "<!DOCTYPE x [<!ENTITY e '>]'><!--'--><?'?>]><feed><entry><link href='&e;'/>",
		"<urlset><![CDATA[", "<urlset><url a='", "\xff\xfe<\x00u\x00",
		"<?xml encoding='koi8-r'?><urlset><url><loc>\xc1",
		packed("<urlset><url><loc>a&#x61;&#;&#99999999;</loc></url>"), "\x1f\x8b\x08",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		sum, err := Read(bytes.NewReader(b), weburl.MustParse("http://h/"), func(e Entry, child bool) error {
			n++
			if u, err := weburl.Parse(e.Loc); err != nil || u.String() != e.Loc {
				return fmt.Errorf("%q is no canonical URL: %v", e.Loc, err)
			}
			return nil
		})
		if err != nil || n != sum.URLs+sum.Children || sum.Kind == None && n > 0 {
			t.Fatalf("%+v, %v after %d", sum, err, n)
		}
	})
}

func BenchmarkSitemap(b *testing.B) {
	body := []byte("<urlset>" + strings.Repeat("<url><loc>http://h/a/page.html?x=1&amp;y=2</loc><lastmod>2005-01-01</lastmod><priority>0.5</priority></url>", 50_000) + "</urlset>")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Read(bytes.NewReader(body), weburl.URL{}, func(Entry, bool) error { return nil })
	}
}
