package htmlmeta

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"curtsy/internal/weburl"
)

// testRef maps http://h/x to L/x; what begins with /gone is silenced or live, and other hosts
// are kept.
func testRef(r Reference) (Change, string) {
	path := r.URL.Path()
	switch {
	case r.URL.Host() != "h":
		if r.Kind == Requisite {
			return Silent, r.URL.String()
		}
		return Leave, ""
	case strings.HasPrefix(path, "/gone"):
		if r.Kind == Requisite {
			return Silent, r.URL.String()
		}
		return Live, r.URL.String() + r.Fragment
	}
	return Local, "L" + strings.ReplaceAll(r.URL.Target(), "?", "@") + r.Fragment
}

func rewriteHTML(src string) string {
	return rewriteAs("text/html; charset=utf-8", src)
}

func rewriteAs(typ, src string) string {
	out := Rewrite(Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {typ}},
		Body: []byte(src)}, Rewriting{Ref: testRef})
	return string(out.Body)
}

func TestRewrite(t *testing.T) {
	for _, c := range []struct{ says, src, want string }{
		{"a reference is replaced where it stands", `<a  HREF = "/x" b>`, `<a  HREF = "L/x" b>`},
		{"single quotes stay", `<a href='/x'>`, `<a href='L/x'>`},
		{"unquoted values get quotes", `<a href=/x>`, `<a href="L/x">`},
		{"blanks and newlines around and within", "<a href=' /x\ny '>", `<a href='L/xy'>`},
		{"entities", `<a href="/x?a=1&amp;b=&#50;">`, `<a href="L/x@a=1&amp;b=2">`},
		{"of duplicates the first counts, the others go", `<a href="/x" href="/y">`, `<a href="L/x">`},
		{"fragments are kept", `<a href="/x#f">`, `<a href="L/x#f">`},
		{"a place in the page stays", `<a href="#f"><img src=""><use href="#u">`,
			`<a href="#f"><img src=""><use href="#u">`},
		{"other schemes stay", `<a href="javascript:x()"><a href=mailto:a@b><img src="data:image/gif;base64,R">`,
			`<a href="javascript:x()"><a href=mailto:a@b><img src="data:image/gif;base64,R">`},
		{"comments, scripts and text stay", `<!-- <a href="/x"> --><script>"<a href='/x'>"</script>/x<textarea><a href=/x></textarea>`, `<!-- <a href="/x"> --><script>"<a href='/x'>"</script>/x<textarea><a href=/x></textarea>`},
		{"a param whose name says so holds a URL", `<object><param name=" Movie" value="/x"><param name=wmode value="/x">`,
			`<object><param name=" Movie" value="L/x"><param name=wmode value="/x">`},
		{"what is not there becomes absolute", `<a href="/gone?x&amp;y">`, `<a href="http://h/gone?x&amp;y">`},
		{"a picture that is not there is not asked for", `<img src="/gone" alt=x>`,
			`<img data-live-src="http://h/gone" alt=x>`},
		{"base is resolved and removed", `<base href="/b/"><a href="x"><a href="#f"><img src="">`,
			`<a href="L/b/x"><a href="L/b/#f"><img src="">`},
		{"a base keeps its target, a second base goes too", `<base target=_top href="/b/"><base href=/c/><a href=x>`,
			`<base target=_top><a href="L/b/x">`},
		{"srcset", `<img srcset="/a 1x, /b,c 2x,data:x 3x">`, `<img srcset="L/a 1x, L/b,c 2x,data:x 3x">`},
		{"candidates that are not there go", `<img srcset="/gone 1x, /b 2x"><img srcset="/gone 1x">`,
			`<img srcset="L/b 2x"><img data-live-srcset="http://h/gone">`},
		{"style attributes", `<p style="color:red;background:url(&quot;/x&quot;)">`,
			`<p style="color:red;background:url(&#34;L/x&#34;)">`},
		{"style elements", `<style>a{b:url( /x )} @import "/y" screen; /* url(/z) */ b{content:"url(/z)"}</style>`,
			`<style>a{b:url( L/x )} @import "L/y" screen; /* url(/z) */ b{content:"url(/z)"}</style>`},
		{"styles that are not there are not asked for", `<style>a{b:url(/gone)} @import url(/gone);</style>`,
			`<style>a{b:url(data:,live%20http://h/gone)} @import url(data:text/css,);</style>`},
		{"namespaces are no references", `<style>@namespace url(http://www.w3.org/1999/xhtml);</style>`,
			`<style>@namespace url(http://www.w3.org/1999/xhtml);</style>`},
		{"refresh", `<meta http-equiv="Refresh" content="3;URL='/x#f'">`,
			`<meta http-equiv="Refresh" content="3; url=L/x#f">`},
		{"a meta that is none stays", `<meta name=description content="0;url=/x">`,
			`<meta name=description content="0;url=/x">`},
		{"guards of local files go", `<script src=/x integrity="sha256-x" crossorigin async></script>`,
			`<script src="L/x" async></script>`},
		{"guards of others stay", `<a href="http://o/" integrity=x>`, `<a href="http://o/" integrity=x>`},
		{"CSP in a meta goes", `<meta http-equiv="Content-Security-Policy" content="default-src 'self'"><p>`, `<p>`},
		{"srcdoc", `<iframe srcdoc="&lt;a href=&quot;/x&quot;>">`, `<iframe srcdoc="&lt;a href=&#34;L/x&#34;>">`},
		{"forms", `<form action="/x"><button formaction=/y>`, `<form action="L/x"><button formaction="L/y">`},
		{"svg", `<svg><image xlink:href="/x"/><a xlink:href=/y /></svg>`,
			`<svg><image xlink:href="L/x"/><a xlink:href="L/y" /></svg>`},
		{"an unfinished tag stays", `<a href="/x"><a href="/y`, `<a href="L/x"><a href="/y`},
		{"nothing to do leaves every octet", "<A\tHREF='http://o/' x>\x80\x00</a",
			"<A\tHREF='http://o/' x>\x80\x00</a"},
	} {
		if got := rewriteAs("text/html", c.src); got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.says, c.src, got, c.want)
		}
	}
}

func TestRewriteCSSFile(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`a{b:url(/x)}`, `a{b:url(L/x)}`}, {`a{b:url('/x')}`, `a{b:url('L/x')}`},
		{`@import'/x'layer(a)`, `@import'L/x'layer(a)`},
		{`a{b:url(/x\,y)}`, `a{b:url(L/x,y)}`}, {`a{b:url("/\78")}`, `a{b:url("L/x")}`}, {`a{b:url(/x`, `a{b:url(L/x`},
		{`a{b:url(#x) url(data:,x)}`, `a{b:url(#x) url(data:,x)}`},
		{`a{b:image-set("/x" 1x, url(/y) 2x)}`, `a{b:image-set("L/x" 1x, url(L/y) 2x)}`},
		{`@font-face{src:url("/f?#iefix")}`, `@font-face{src:url("L/f@#iefix")}`},
	} {
		if got := rewriteAs("text/css", c.src); got != c.want {
			t.Errorf("%s: got %s, want %s", c.src, got, c.want)
		}
	}
}

func TestRewriteCharsets(t *testing.T) {
	src := "<!DOCTYPE html>\n<title>Привет</title><a href=/x title=ж>ж</a><p style=\"background:url(/y) /* ж */\">"
	want := "<!DOCTYPE html>\n<meta charset=\"windows-1251\"><title>Привет</title><a href=\"L/x\" title=ж>ж</a><p style=\"background:url(L/y) /* ж */\">"
	coded, _ := charmap.Windows1251.NewEncoder().String(src)
	got, _ := charmap.Windows1251.NewDecoder().String(rewriteAs("text/html; charset=windows-1251", coded))
	if got != want {
		t.Errorf("charset of the header:\n got %s\nwant %s", got, want)
	}
	if got := rewriteHTML("\xEF\xBB\xBF<p>ж"); got != "\xEF\xBB\xBF<p>ж" {
		t.Errorf("a byte order mark says enough: %q", got)
	}
	if got := rewriteAs("text/css; charset=utf-8", "a{b:'ж'}"); got != `@charset "utf-8";a{b:'ж'}` {
		t.Errorf("css: %s", got)
	}
}

func TestRewritePolicy(t *testing.T) {
	for _, c := range []struct{ typ, src, want string }{
		{"text/html", "<!DOCTYPE html><html><head><script>x</script>",
			`<!DOCTYPE html><html><head>META><script>x</script>`},
		{"text/html", "<!DOCTYPE html><script>x</script>", `<!DOCTYPE html>META><script>x</script>`},
		{"text/html", `<meta http-equiv="content-security-policy" content="img-src x"><p>`, `META><p>`},
		{"text/html", "only text", `META>only text`},
		{"text/html; charset=windows-1251", "<head>\xff", `<head><meta charset="windows-1251">META>` + "\xff"},
		{"text/html", `<head></head><iframe srcdoc="<p>">`, `<head>META></head><iframe srcdoc="<p>">`},
		{"application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><head/></html>`,
			`<html xmlns="http://www.w3.org/1999/xhtml"><head>META/></head></html>`},
		{"application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head></html>`,
			`<html xmlns="http://www.w3.org/1999/xhtml"><head>META/><title/></head></html>`},
		{"image/svg+xml", `<svg><g/></svg>`, `<svg><g/></svg>`},
		{"text/css", `a{b:c}`, `a{b:c}`},
	} {
		want := strings.Replace(c.want, "META",
			`<meta http-equiv="Content-Security-Policy" content="default-src 'self'"`, 1)
		out := Rewrite(Page{URL: weburl.MustParse("http://h/"), Header: http.Header{"Content-Type": {c.typ}},
			Body: []byte(c.src)}, Rewriting{Ref: testRef, Policy: "default-src 'self'"})
		if string(out.Body) != want {
			t.Errorf("%s: got %s, want %s", c.src, out.Body, want)
		}
	}
}

func TestRewriteNoTranslate(t *testing.T) {
	for src, want := range map[string]string{
		"<!DOCTYPE html><html lang=de><p>": `<!DOCTYPE html><html translate="no" lang=de><p>`,
		"<html translate=yes>":             `<html translate="no">`,
		"<!DOCTYPE html><title>x</title>":  `<!DOCTYPE html><html translate="no"><title>x</title>`,
		"only text":                        `<html translate="no">only text`,
	} {
		out := Rewrite(Page{URL: weburl.MustParse("http://h/"), Header: http.Header{"Content-Type": {"text/html"}},
			Body: []byte(src)}, Rewriting{Ref: testRef, NoTranslate: true})
		if string(out.Body) != want {
			t.Errorf("%s: got %s, want %s", src, out.Body, want)
		}
	}
}

func TestRewriteOfStyleInstructions(t *testing.T) {
	for src, want := range map[string]string{
		`<?xml version="1.0"?><?xml-stylesheet href="/a.css?x&amp;y" type="text/css"?><svg xmlns="http://www.w3.org/2000/svg"/>`: `<?xml version="1.0"?><?xml-stylesheet href="L/a.css@x&amp;y" type="text/css"?><svg xmlns="http://www.w3.org/2000/svg"/>`,
		`<?xml-stylesheet type='text/css' href='/gone'?><svg><image href="/i"/></svg>`:                                           `<?live-stylesheet type='text/css' href='/gone'?><svg><image href="L/i"/></svg>`,
	} {
		if got := rewriteAs("image/svg+xml", src); got != want {
			t.Errorf(" got %s\nwant %s", got, want)
		}
	}
	page := `<?xml-stylesheet href="/a.css"?><html xmlns="http://www.w3.org/1999/xhtml"><head/></html>`
	if got, want := rewriteAs("application/xhtml+xml", page), strings.Replace(page, "/a.css", "L/a.css",
		1); got != want {
		t.Errorf("xhtml: %s", got)
	}
	// In other XML only these are references that a browser follows.
	feed := `<?xml-stylesheet type="text/xsl" href="/a.xsl"?><rss><channel><link>http://h/x</link><a href="/b"/></channel></rss>`
	if got, want := rewriteAs("application/rss+xml", feed), strings.Replace(feed, "/a.xsl", "L/a.xsl", 1); got != want {
		t.Errorf("feed: %s", got)
	}
}

func TestRewriteKeepsWhatTheHeaderAsksOfRobots(t *testing.T) {
	h := http.Header{"Content-Type": {"text/html"}, "X-Robots-Tag": {"noindex", "otherbot: nofollow",
		"unavailable_after: 25 Jun 2030 15:00:00 GMT, noindex", "notranslate"}}
	out := Rewrite(Page{URL: weburl.MustParse("http://h/"), Header: h, Body: []byte(`<html><head><title>x</title>`)},
		Rewriting{Ref: testRef})
	if want := `<html><head><meta name="robots" content="noindex, unavailable_after:25 Jun 2030 15:00:00 GMT"><title>x</title>`; string(out.Body) != want {
		t.Errorf(" got %s\nwant %s", out.Body, want)
	}
}

func TestRewriteTakesSpritesIn(t *testing.T) {
	sprite := func(u weburl.URL, prefix string) (string, weburl.URL) {
		return Sprite([]byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><g id="a" fill="url(#b)"/></svg>`), prefix), u
	}
	out := Rewrite(Page{URL: weburl.MustParse("http://h/"), Header: http.Header{"Content-Type": {"text/html"}},
		Body: []byte(`<body><svg><use href="/s.svg#a"/></svg></body>`)}, Rewriting{Ref: testRef, Inline: sprite})
	want := `<body><svg><use href="#sprite1-a"/></svg><div hidden style="display:none"><?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><g id="sprite1-a" fill="url(#sprite1-b)"/></svg></div></body>`
	want = strings.Replace(want, `<?xml version="1.0"?>`, "", 1)
	if string(out.Body) != want {
		t.Errorf("got %s\nwant %s", out.Body, want)
	}
}

// References in a sprite are rewritten as those of the page that it is inlined into, in any
// place.
func TestRewriteTakesSpritesInWithTheirPictures(t *testing.T) {
	sprite := func(u weburl.URL, prefix string) (string, weburl.URL) {
		src := `<svg><style>.a{fill:url(c.svg#d)}@import "e.css";</style><symbol id="a"><image xlink:href="b.png"/><image href="data:image/png;base64,eA=="/>` +
			`<use href="#a"/><feImage href='/f.png'/><g style="mask:url(g.svg)"/></symbol></svg>`
		return Sprite([]byte(src), prefix), weburl.MustParse("http://h/moved/s.svg")
	}
	var asked []string
	ref := func(r Reference) (Change, string) {
		asked = append(asked, r.Link.URL.String())
		return Local, "L" + r.Link.URL.Path() + r.Fragment
	}
	out := Rewrite(Page{URL: weburl.MustParse("http://h/"), Header: http.Header{"Content-Type": {"text/html"}},
		Body: []byte(`<body><svg><use href="/s.svg#a"/><use href="/s.svg#a"/></svg>`)},
		Rewriting{Ref: ref, Inline: sprite})
	want := `<body><svg><use href="#sprite1-a"/><use href="#sprite1-a"/></svg><div hidden style="display:none"><svg><style>.a{fill:url(L/moved/c.svg#d)}@import "L/moved/e.css";</style>` +
		`<symbol id="sprite1-a"><image xlink:href="L/moved/b.png"/><image href="data:image/png;base64,eA=="/><use href="#sprite1-a"/><feImage href='L/f.png'/><g style="mask:url(L/moved/g.svg)"/></symbol></svg></div>`
	if string(out.Body) != want {
		t.Errorf(" got %s\nwant %s\nasked %q", out.Body, want, asked)
	}
}

func TestSprite(t *testing.T) {
	for _, c := range []struct{ says, src, want string }{
		{"ids and references get the prefix", `<svg><symbol id="a"/><use href="#a" style="fill:url(#b)"/></svg>`,
			`<svg><symbol id="p-a"/><use href="#p-a" style="fill:url(#p-b)"/></svg>`},
		{"what lies behind the root is not of the picture", `<svg><symbol id="a"></symbol></svg><path id="x"/>`,
			`<svg><symbol id="p-a"></symbol></svg>`},
		{"a second root", `<svg><g id="a"/></svg><svg><g id="b"/></svg>`, `<svg><g id="p-a"/></svg>`},
		{"declarations before the root go", `<?xml version="1.0"?><!-- <svg> --><svg><g id="a"/></svg>`,
			`<svg><g id="p-a"/></svg>`},
		{"a script", `<svg><script>x</script></svg>`, ""},
		{"an event handler", `<svg onload="x()"><g/></svg>`, ""},
		{"a page in the picture", `<svg><foreignObject><iframe/></foreignObject></svg>`, ""},
		{"an element that breaks out", `<svg><g><P>x</P></g></svg>`, ""},
		{"one that loads", `<svg><symbol id="s"><img src="http://x/"/></symbol></svg>`, ""},
		{"one that leads away", `<svg><meta http-equiv="refresh" content="0;url=http://x/"/></svg>`, ""},
		{"a font of HTML", `<svg><font color="red">x</font></svg>`, ""},
		{"HTML within a title", `<svg><title><a href="http://x/">x</a></title></svg>`, ""},
		{"HTML within a description", `<svg><desc><iframe src="http://x/"></iframe></desc></svg>`, ""},
		{"a title", `<svg><title>a title</title><g id="a"/></svg>`, `<svg><title>a title</title><g id="p-a"/></svg>`},
		{"a reference to another file", `<svg><image href="a.png"/></svg>`, `<svg><image href="a.png"/></svg>`},
		{"a URL that runs, disguised", `<svg><a href="&#106;ava&#9;script:x()"><g/></a></svg>`, ""},
		{"a URL that runs", `<svg><a href=" javascript:x()"><g/></a></svg>`, ""},
		{"tags that do not pair", `<svg><g></svg></g>`, ""},
		{"a root without its end", `<svg><g id="a"/>`, ""},
		{"an end before the root", `</svg><svg><g/></svg>`, ""},
		{"an empty root", `<svg/>`, ""},
		{"a root of another name space prefix", `<svg:svg><g/></svg:svg>`, ""},
	} {
		if got := Sprite([]byte(c.src), "p-"); got != c.want {
			t.Errorf("%s: got %s, want %s", c.says, got, c.want)
		}
	}
}

// FuzzSprite checks that nothing panics, and that what is inlined is one whole svg element.
func FuzzSprite(f *testing.F) {
	for _, s := range []string{
		`<svg><symbol id="a"></symbol></svg><path id="x"/>`, `<svg><g id=a fill="url(#b)"></g></svg></svg>`,
		`<svg id="a"><use xlink:href="#a"/></svg><g id="b"`,
		`<?xml version="1.0"?><svg><![CDATA[</svg>]]><g id="a"/></svg>`, `<svg><title></svg>`,
		`<svg><style>a{}</style id="x"></svg>`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before := bytes.Clone(src)
		out := Sprite(src, "p-")
		if !bytes.Equal(before, src) {
			t.Fatal("the body was changed")
		}
		if out == "" {
			return
		}
		if !strings.HasPrefix(out, "<svg") || !strings.HasSuffix(out, ">") {
			t.Fatalf("%q gives %q", src, out)
		}
		if at, ok := rootElement([]byte(out)); !ok || at != (span{0, len(out)}) {
			t.Fatalf("%q gives %q, which is not one element", src, out)
		}
	})
}

// FuzzRewriteAs checks that nothing panics for any document type, even if a document inlines
// its own pictures.
func FuzzRewriteAs(f *testing.F) {
	for _, s := range []string{
		`<body><svg><use href="/s.svg#a"/></svg>`,
		`<svg xmlns="http://www.w3.org/2000/svg"><style>a{b:url(/x)}</style><use href="/s.svg#a"/></svg><path style="a:url(/x)"/>`,
		`<?xml-stylesheet href="/a.css"?><svg><image href="/x"/>`, `@import "/x";a{b:url(/y`,
		"\xff\xfe<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00/\x00>\x00", "\xfe\xff\x00<\x00a",
	} {
		for _, typ := range []string{"text/html", "image/svg+xml", "application/xhtml+xml", "text/css",
			"text/html; charset=utf-16le", "text/css; charset=utf-16be", "image/svg+xml; charset=koi8-r", ""} {
			f.Add(typ, []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, typ string, src []byte) {
		before := bytes.Clone(src)
		p := Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {typ},
			"Link": {`</x>; rel=stylesheet`}}, Body: src}
		out := Rewrite(p, Rewriting{Ref: testRef, NoTranslate: true, Inline: func(u weburl.URL, prefix string) (string,
			weburl.URL) {
			return Sprite(src, prefix), u
		}})
		if !bytes.Equal(before, src) {
			t.Fatal("the body was changed")
		}
		if !out.Changed && !bytes.Equal(out.Body, src) {
			t.Fatal("said to be unchanged, and is not")
		}
	})
}

// FuzzRewrite checks that nothing panics, and that a rewriter that changes nothing returns the
// same octets.
func FuzzRewrite(f *testing.F) {
	for _, s := range oddMarkup {
		f.Add([]byte(s))
	}
	f.Add([]byte(`<base href=x><a href=1 href=2 style="a:url(x)" srcset="a 1x,b"><iframe srcdoc="<a href=x>"><meta http-equiv=refresh content="0;x">`))
	leave := func(Reference) (Change, string) { return Leave, "" }
	f.Fuzz(func(t *testing.T, src []byte) {
		p := Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {"text/html"}},
			Body: bytes.Clone(src)}
		Rewrite(p, Rewriting{Ref: testRef, NoTranslate: true})
		if !bytes.Equal(p.Body, src) {
			t.Fatalf("the page itself was changed: %q", src)
		}
		low := bytes.ToLower(src)
		if bytes.Contains(low, []byte("base")) || bytes.Contains(low, []byte("meta")) {
			return
		}
		if out := Rewrite(p, Rewriting{Ref: leave}); out.Changed && bytes.Equal(out.Body, src) {
			t.Fatalf("said to be changed, and is not: %q", src)
		}
	})
}
