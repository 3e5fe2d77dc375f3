package hostile

import (
	"fmt"
	"strings"
)

func documents() []*Fixture {
	const mega = 1 << 20
	page := func(name, attack, body string, want map[string]string) *Fixture {
		return &Fixture{Line: 7, Name: name, Attack: attack, Pages: map[string]Answer{"": html(body), "good": good},
			Want: want, Heavy: len(body) > 20*mega}
	}
	found := map[string]string{"": fetched, "good": fetched}
	readOn := map[string]string{"": fetched}
	const link = "<a href=good>x</a>"
	var srcset strings.Builder
	srcset.WriteString("<img srcset='")
	for i := range 100_000 {
		fmt.Fprintf(&srcset, "http://other.invalid/%d %dw, ", i, i)
		if i%1000 == 0 && i > 20_000 {
			break // more of the same
		}
	}
	return []*Fixture{
		page("nested-tags", "a million nested tags", link+rep("<div>", mega), found),
		page("nested-tables", "300,000 nested tables and forms", link+rep("<table><tr><td><form>", 300_000), found),
		page("nested-svg", "a million nested svg", link+rep("<svg>", mega), found),
		page("open-comment", "a comment that never ends", link+"<!-- <a href=never>"+rep("x", mega),
			map[string]string{"good": fetched, "never": unknown}),
		page("open-attribute", "an attribute that never ends", link+rep(`<a href="`, 100_000), found),
		page("open-script", "a script that never ends", link+rep("<script><!--", 300_000), found),
		page("duplicate-attributes", "a tag with 100,000 attributes, the same ones twice",
			link+"<a href=first href=second "+rep("b=c ", 100_000)+">x</a>",
			map[string]string{"good": fetched, "second": unknown}),
		page("huge-attribute", "an attribute of 50 MB", link+`<a href="`+rep("x", 50*mega)+`">`, found),
		page("base-tricks", "base to another host, to javascript:, twice, and late",
			"<a href=good>x</a><base href='DIR'><base href='http://evil.invalid/'><a href=late>x</a><base href='javascript:x'>", map[string]string{"good": fetched}),
		page("late-charset", "three charsets that contradict each other", link+"<meta charset=koi8-r>"+rep(" ", 2000)+
			"<meta charset=utf-16><meta http-equiv=content-type content='text/html; charset=utf-7'>+ADw-a href=evil+AD4-", found),
		page("srcset", "a srcset of 20,000 candidates", link+srcset.String()+"'>", found),
		page("srcdoc", "srcdoc in srcdoc, 10,000 deep",
			link+rep("<iframe srcdoc='", 10_000)+rep("&lt;iframe srcdoc=&quot;", 10_000)+"'>", found),
		page("entities", "a million entities in one attribute", link+"<a href='"+rep("&amp;", mega)+"'>", found),
		page("meta-flood", "100,000 meta robots that contradict each other",
			link+rep("<meta name=robots content=all><meta name=robots content='index,follow'>", 50_000), found),
		page("nul-flood", "10 MB of NUL", link+rep("\x00", 10*mega), readOn),
		{Line: 7, Name: "utf16", Attack: "UTF-16 without end of text, unpaired surrogates",
			Pages: map[string]Answer{"": typed("text/html; charset=utf-16", "\xff\xfe"+rep("\x00\xd8", mega)),
				"good": good}, Want: readOn},
		{Line: 7, Name: "imports", Attack: "@import in circles and to ever new style sheets", Most: 60,
			Pages: map[string]Answer{"": html("<link rel=stylesheet href=a.css>" + link), "good": good,
				"a.css": typed("text/css", "@import 'b.css'; @import 'a.css';"), "b.css": typed("text/css",
					"@import 'a.css'; @import 'x/y/z/w.css'"), "x*": typed("text/css", "@import 'x/y/z/w.css'")},
			Want:   map[string]string{"good": fetched, "a.css": fetched, "b.css": fetched},
			Counts: map[string]int{"trap: repeated-segments": 1}},
		{Line: 7, Name: "open-css", Attack: "CSS that never ends: url(, strings, comments, escapes",
			Pages: map[string]Answer{"": html("<link rel=stylesheet href=a.css>" + link), "good": good,
				"a.css": typed("text/css", rep("url(", 100_000)+rep("\"\n", 100_000)+rep("/*",
					100_000)+rep(`\`, 100_000))},
			Want: found},
		{Line: 7, Name: "refresh", Attack: "meta refresh to itself, in circles, every 0 seconds", Most: 6,
			Pages: map[string]Answer{"": html("<meta http-equiv=refresh content='0;url=b'>"),
				"b": html("<meta http-equiv=refresh content='0;url=DIR'><meta http-equiv=refresh content=0>")},
			Want: map[string]string{"b": fetched}},
		{Line: 7, Name: "wrong-type", Attack: "HTML that claims to be a picture, a picture that claims to be HTML",
			Pages: map[string]Answer{"": links("a", "b", "good"), "good": good,
				"a": typed("image/png", "<a href=never>x</a>"), "b": typed("text/html", "\x89PNG\r\n\x1a\n"+
					rep("\x00\xff<a href=", 10_000))}, Want: map[string]string{"good": fetched, "never": unknown}},
	}
}
