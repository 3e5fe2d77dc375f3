package htmlmeta

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func blocksOf(page string) string {
	var lines []string
	for _, b := range ReadText(Page{Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body: []byte(page)}, 1<<20) {
		text := b.Text
		for i := len(b.Hidden) - 1; i >= 0; i-- {
			h := b.Hidden[i]
			text = text[:h[0]] + "{" + text[h[0]:h[1]] + "}" + text[h[1]:]
		}
		if b.Head {
			text = "# " + text
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, " | ")
}

func TestReadText(t *testing.T) {
	long := strings.Repeat("word ", 40)
	for _, c := range []struct{ says, page, want string }{
		{"blocks end at block tags, words go on through inline ones",
			`<h1>A <b>title</b></h1><p>some<i>thing</i> else<p>next<ul><li>one<li>two</ul>tail`,
			"# A title | something else | next | one | two | tail"},
		{"blanks are single, br and nbsp are blanks", "<p>a\n\t b<br>c&nbsp;&nbsp;d</p>", "a b c d"},
		{"entities and soft hyphens", `<p>&lt;b&gt; caf&eacute; of&shy;ten &amp;amp;`, "<b> café often &amp;"},
		{"comments, scripts, styles, templates and titles are no text",
			`<title>t</title><p>a<!-- <b>x</b> --><script>"</p>"</script><style>p{}</style><template>y</template><noscript>z</noscript>b<svg><text>s</text></svg></p>`, "ab"},
		{"what is hidden is no text", `<p>a<span hidden>b</span><span aria-hidden=TRUE>c</span><div hidden>d<div>e</div></div>f`, "a | f"},
		{"navigation, banners and forms stand beside the text",
			`<header>x</header><nav>y<p>y</nav><div role=banner>z</div><p>` + long + `<form>q</form><footer>w</footer>`,
			strings.TrimSpace(long)},
		{"but a header within the article is its own", `<article><header><h1>Title</h1></header>` + long + `</article>`,
			"# Title | " + strings.TrimSpace(long)},
		{"a page that is all form has a text", `<form><p>all of it`, "all of it"},
		{"and so is noindex, as Yandex has it", `<p>a <noindex>b <i>c</i></noindex> d <!--noindex-->e<!--/NoIndex--> f`,
			"a{ b}{ c} d{ e} f"},
		{"data-nosnippet is text that is not shown", `<p>a <span data-nosnippet>b <i>c</i></span> d`, "a{ b}{ c} d"},
		{"data-nosnippet to its own end tag", `<p>a <span data-nosnippet>b <span>c</span> d</span> e`, "a{ b}{ c}{ d} e"},
		{"hidden to its own end tag", `<p>a <b hidden>b <b>c</b> d</b> e <my-x hidden>f<my-x>g</my-x>h</my-x> i`, "a e i"},
		{"readings of a ruby have optional end tags", `<p><ruby>w<rt aria-hidden=true>r</ruby> a<ruby>v<rp hidden>(<rt>s<rp hidden>)</ruby> b`, "w avs b"},
		{"a table left open in a template", `<template><table><tr><td>x</template>a<noscript><object data=x></noscript> b`, "a b"},
		{"a caption has an optional end tag", `<table><caption hidden>n<tr><td>a</table><table><colgroup hidden><tr><td>b</table>`, "a | b"},
		{"nav and form are blocks", `<div>a<nav>b</nav>c</div>d<form>e</form>f`, "a | c | d | f"},
		{"cells are blocks", `<table><tr><td>1<td>2<tr><th>3</table>`, "1 | 2 | 3"},
		{"a lone < is text", `<p>a < b, 1<2`, "a < b, 1<2"},
		{"cut within a comment", `<p>a<!-- b`, "a"},
		{"a tag that nothing opens", `<p>a</div></p></x>b<nav>`, "a | b"},
	} {
		if got := blocksOf(c.page); got != c.want {
			t.Errorf("%s: got %q, want %q", c.says, got, c.want)
		}
	}
	plain := ReadText(Page{Header: http.Header{"Content-Type": {"text/plain"}},
		Body: []byte("one\r\ntwo\r\n\r\n<b>three")}, 1<<20)
	if len(plain) != 2 || plain[0].Text != "one two" || plain[1].Text != "<b>three" {
		t.Errorf("plain text: %+v", plain)
	}
	page := Page{Header: http.Header{"Content-Type": {"text/html; charset=windows-1251"}},
		Body: []byte("<p>\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0")}
	if got := ReadText(page, 1<<20); len(got) != 1 || got[0].Text != "Привет, мир" {
		t.Errorf("windows-1251: %+v", got)
	}
	if got := ReadText(Page{Header: http.Header{"Content-Type": {"image/png"}}, Body: []byte("text")},
		1<<20); got != nil {
		t.Errorf("a picture: %+v", got)
	}
}

func FuzzReadText(f *testing.F) {
	f.Add("<p>a<span data-nosnippet>b</p>c", 10)
	f.Add("<nav><p>a</nav><!--", 3)
	f.Fuzz(func(t *testing.T, page string, most int) {
		most &= 1<<16 - 1
		total := 0
		for _, b := range ReadText(Page{Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(page)}, most) {
			total += len(b.Text)
			for _, h := range b.Hidden {
				if h[0] < 0 || h[0] >= h[1] {
					t.Errorf("hidden %v of %q", h, b.Text)
				}
			}
		}
		if total > most {
			t.Errorf("%d octets, at most %d", total, most)
		}
	})
}

func TestShownLeavesOutWhatMustNotBeQuoted(t *testing.T) {
	for _, c := range []struct {
		b    Block
		want string
	}{
		{Block{Text: "all of it"}, "all of it"},
		{Block{Text: "one two three", Hidden: [][2]int{{4, 7}}}, "one  three"},
		{Block{Text: "one two", Hidden: [][2]int{{0, 4}, {4, 7}}}, ""},
		{Block{Text: "one two", Hidden: [][2]int{{4, 90}}}, "one"}, // offsets beyond the end of a text that was cut
		{Block{Text: "one two", Hidden: [][2]int{{0, 4}, {2, 4}}}, "two"},
	} {
		if got := c.b.Shown(""); got != c.want {
			t.Errorf("%+v: %q, want %q", c.b, got, c.want)
		}
	}
}

// TestHiddenInEveryReading checks that hidden text stays hidden whatever the other attributes
// are.
func TestHiddenInEveryReading(t *testing.T) {
	for _, attrs := range []string{`hidden`, `role="navigation" hidden`, `aria-hidden="false" hidden`,
		`aria-hidden="TRUE"`} {
		p := Page{Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
			Body: []byte(`<main><p>shown</p><div ` + attrs + `>secret</div></main>`)}
		for name, read := range map[string]func(Page, int) []Block{"ReadText": ReadText, "ReadWholeText": ReadWholeText} {
			blocks := read(p, 1<<20)
			if len(blocks) != 1 || blocks[0].Text != "shown" {
				t.Errorf("%s of %s: got %v, want no more than what is shown", name, attrs, blocks)
			}
		}
		for name, read := range map[string]func(Page) (*html.Node, error){"Readable": Readable, "Whole": Whole} {
			var b strings.Builder
			root, err := read(p)
			if err != nil || html.Render(&b, root) != nil || strings.Contains(b.String(), "secret") {
				t.Errorf("%s of %s: got %s, %v, want no more than what is shown", name, attrs, b.String(), err)
			}
		}
	}
}

// words returns the words of a text, sorted: a tree moves text that stands directly in a table.
func words(text string) string {
	list := strings.Fields(text)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// The text is that which the parser of browsers has outside of hidden elements, whichever tags are left out,
// doubled or in the wrong place.
func TestReadTextAsATreeHasIt(t *testing.T) {
	tags := strings.Split("<head>,</head>,<title>t</title>,<body>,</body>,<html>,</html>,<meta x>,<link>,<style>s</style>,"+
		"<p>,<p hidden>,</p>,<div>,<div/>,<div hidden>,</div>,<svg>q</svg>,<svg/>,<svg><path/><text>q</text></svg>,"+
		"<table><tr><td>,</td></tr></table>,<tr hidden><td>,<tr><td>,<td>,<td hidden>,<ul>,<li>,<li hidden>,</ul>,"+
		"<dl>,<dt hidden>,<dd>,</dl>,<span hidden>,<span>,</span>,<ruby>,<rt hidden>,</ruby>,<template><table><tr></template>,<nav>,</nav>,<h1>,</h1>,<br>,<b>,</b>", ",")
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var page, tree, text strings.Builder
		page.WriteString("<!doctype html>")
		for n := range 1 + random.IntN(6) {
			fmt.Fprintf(&page, "%s w%d ", tags[random.IntN(len(tags))], n)
		}
		p := Page{Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(page.String())}
		root, err := Whole(p)
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				tree.WriteString(n.Data + " ")
			}
		}
		for _, b := range ReadWholeText(p, 1<<20) {
			text.WriteString(b.Text + " ")
		}
		if got, want := words(text.String()), words(tree.String()); got != want {
			t.Errorf("%s: got %q, want %q", p.Body, got, want)
		}
	}
}

func TestReadTextOfXHTML(t *testing.T) {
	p := Page{Header: http.Header{"Content-Type": {"application/xhtml+xml"}}, Body: []byte(
		`<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title><script src="x.js"/></head><body>` +
			`<p>one</p><div hidden="hidden"/><iframe src="x"/><svg xmlns="http://www.w3.org/2000/svg"><text>no</text></svg><p>two</p></body></html>`)}
	if blocks := ReadText(p, 1<<20); len(blocks) != 2 || blocks[0].Text != "one" || blocks[1].Text != "two" {
		t.Errorf("got %+v", blocks)
	}
}
