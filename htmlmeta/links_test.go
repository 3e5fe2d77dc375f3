package htmlmeta

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

// linksOf reads a page at http://h/d/p and returns its links, one per line, without http://h.
func linksOf(contentType, body string) string {
	d := Read(Page{
		URL:    weburl.MustParse("http://h/d/p"),
		Header: http.Header{"Content-Type": {contentType}},
		Body:   []byte(body),
	}, Options{})
	return linkLines(d)
}

func linkLines(d Document) string {
	var b []string
	for _, l := range d.Links {
		s := strings.TrimPrefix(l.URL.String(), "http://h") + " " + l.Tag + "." + l.Attr + " " + l.Kind.String()
		if l.Rel != "" {
			s += " rel=" + strings.ReplaceAll(l.Rel, " ", "+")
		}
		if l.NoFollow {
			s += " nofollow"
		}
		b = append(b, s)
	}
	return strings.Join(b, "\n")
}

func TestLinks(t *testing.T) {
	for _, c := range []struct{ name, html, want string }{
		// pages
		{"a", `<a href=x>`, "/d/x a.href page"},
		{"each once", `<a href=x><a href="x#f"><a href=./x>`, "/d/x a.href page"},
		{"self", `<a href="#x"><a href="">`, "/d/p a.href page"},
		{"query only", `<a href="?a=b">`, "/d/p?a=b a.href page"},
		{"other host", `<a href="//o/x"><a href="HTTP://O:80/y">`, "http://o/x a.href page\nhttp://o/y a.href page"},
		{"area", `<map><area href=/x></map>`, "/x area.href page"},
		{"blanks and newlines", "<a href='  /a\n/b\t '>", "/a/b a.href page"},
		{"entities", `<a href="?a=1&amp;b=2&copy=3&#x26;d&lt;">`, "/d/p?a=1&b=2&copy=3&d%3C a.href page"},
		{"other schemes", `<a href=javascript:x><a href=mailto:x><a href="tel:1"><a href="JavaScript:y"><a href=data:,x><a href="blob:x">`, ""},
		{"duplicate attributes", `<a href=x href=y>`, "/d/x a.href page"},
		{"no quotes", `<A HREF=x?a=b/>`, "/d/x?a=b/ a.href page"},
		{"a value with >", `<a title=">" href='a>b'>`, "/d/a%3Eb a.href page"},
		{"rel", `<a href=x rel="NoFollow  me">`, "/d/x a.href page rel=nofollow+me nofollow"},
		{"ugc, sponsored", `<a href=x rel=ugc><a href=y rel="sponsored">`,
			"/d/x a.href page rel=ugc nofollow\n/d/y a.href page rel=sponsored nofollow"},
		{"followed once is followed", `<a href=x rel=nofollow><a href=x>`, "/d/x a.href page rel=nofollow"},
		{"refresh", `<meta http-equiv=Refresh content="5; URL='/x'">`, "/x meta.content page"},
		{"refresh, no URL", `<meta http-equiv=refresh content="5">`, ""},
		{"content of another meta", `<meta name=x content="0;url=/x">`, ""},
		{"noscript", `<noscript><a href=x></noscript>`, "/d/x a.href page"},
		{"template", `<template><a href=x></template>`, "/d/x a.href page"},
		{"not in script", `<script>"<a href=x>"</script><textarea><a href=y></textarea>`, ""},
		{"not in comment", `<!-- <a href=x> --><a href=y>`, "/d/y a.href page"},
		{"srcdoc", `<iframe srcdoc="<a href=x><img src=&quot;y&quot;>">`, "/d/x a.href page\n/d/y img.src requisite"},
		{"srcdoc has its own base", `<iframe srcdoc="<base href=/b/><a href=x>"></iframe><a href=y>`,
			"/b/x a.href page\n/d/y a.href page"},

		// base
		{"base", `<a href=x><base href=/b/><base href=/c/>`, "/b/x a.href page"},
		{"base without href", `<base target=x><base href=/b/><a href=x>`, "/b/x a.href page"},
		{"base of another scheme", `<base href="javascript:x"><a href=x>`, "/d/x a.href page"},
		{"base elsewhere", `<base href="http://o/q"><a href=x>`, "http://o/x a.href page"},

		// requisites
		{"img", `<img src=a srcset="b 1x, c,d 2x,e" lowsrc=f>`,
			"/d/a img.src requisite\n/d/b img.srcset requisite\n/d/c,d img.srcset requisite\n/d/e img.srcset requisite\n/d/f img.lowsrc requisite"},
		{"nothing in src", `<img src=""><img src="#x"><script src=""></script>`, ""},
		{"picture", `<picture><source srcset="a.webp 1x"><img src=a.png></picture>`,
			"/d/a.webp source.srcset requisite\n/d/a.png img.src requisite"},
		{"media", `<video src=a poster=b><source src=c><track src=d></video><audio src=e>`,
			"/d/a video.src requisite\n/d/b video.poster requisite\n/d/c source.src requisite\n/d/d track.src requisite\n/d/e audio.src requisite"},
		{"plugins", `<object data=a><param name=movie value=b><param name=wmode value=c></object><embed src=d>`,
			"/d/a object.data requisite\n/d/b param.value requisite\n/d/d embed.src requisite"},
		{"applet", `<applet codebase=cls code=A.class archive="a.jar, b.jar">`,
			"/d/cls/A.class applet.code requisite\n/d/cls/a.jar applet.archive requisite\n/d/cls/b.jar applet.archive requisite"},
		{"frames", `<iframe src=a></iframe><frameset><frame src=b>`,
			"/d/a iframe.src requisite\n/d/b frame.src requisite"},
		{"script", `<script src=a></script><input type=image src=b>`,
			"/d/a script.src requisite\n/d/b input.src requisite"},
		{"backgrounds", `<body background=a><table background=b><td background=c><p background=d>`,
			"/d/a body.background requisite\n/d/b table.background requisite\n/d/c td.background requisite"},
		{"svg", `<svg><image href=a /><use xlink:href="b#i"/><use href="#j"/><a xlink:href=c></a><script href=d /></svg>`, "/d/a image.href requisite\n/d/b use.xlink:href requisite\n/d/c a.xlink:href page\n/d/d script.href requisite"},
		{"style attribute", `<p style="background:url(&quot;a b.png&quot;), url(#g)">`,
			"/d/a%20b.png p.style requisite"},
		{"style attribute of any tag", `<x-y style="background:url(a)">`, "/d/a x-y.style requisite"},
		{"style", `<style>@import "a.css" screen; p{background:url(b)}</style>`,
			"/d/a.css style.@import requisite\n/d/b style.url() requisite"},
		{"style in svg", `<svg><style>p{fill:url(b)}</style></svg>`, "/d/b style.url() requisite"},
		{"lazy", `<img data-src=a data-srcset="b 2x"><div data-src=c>`,
			"/d/a img.data-src requisite\n/d/b img.data-srcset requisite\n/d/c div.data-src requisite"},

		// link
		{"stylesheet", `<link rel=StyleSheet href=a><link rel="alternate stylesheet" href=b>`,
			"/d/a link.href requisite rel=stylesheet\n/d/b link.href requisite rel=alternate+stylesheet"},
		{"rev", `<link rev=made href=x><link href=y>`, "/d/x link.href hint\n/d/y link.href hint"},
		{"icon, manifest", `<link rel="shortcut icon" href=a><link rel=manifest href=b>`,
			"/d/a link.href requisite rel=shortcut+icon\n/d/b link.href requisite rel=manifest"},
		{"preload", `<link rel=preload as=image href=a imagesrcset="b 1x">`,
			"/d/a link.href requisite rel=preload\n/d/b link.imagesrcset requisite rel=preload"},
		{"prefetch", `<link rel=prefetch href=a><link rel=prefetch as=script href=b>`,
			"/d/a link.href page rel=prefetch\n/d/b link.href requisite rel=prefetch"},
		{"pages", `<link rel=next href=a><link rel=up href=b>`,
			"/d/a link.href page rel=next\n/d/b link.href page rel=up"},
		{"alternates", `<link rel=canonical href=a><link rel=alternate hreflang=de href=b>`,
			"/d/a link.href alternate rel=canonical\n/d/b link.href alternate rel=alternate"},
		{"hints", `<link rel=preconnect href=//o>`, "http://o/ link.href hint rel=preconnect"},

		// forms
		{"forms", `<form action=a><button formaction=b><input formaction=c>`,
			"/d/a form.action form\n/d/a form.action page\n/d/b button.formaction form\n/d/c input.formaction form"},

		{"forms sent by GET lead to a page",
			`<form action="a?x=1#f" method=GET></form><form action=b method=post></form><form action="?x"></form>`,
			"/d/a?x=1 form.action form\n/d/a form.action page\n/d/b form.action form\n/d/p?x form.action form"},

		{"tags in any case, cut at the end", "<IMG SRC=a><a href=\"b", "/d/a img.src requisite"},
		{"end tags have no links", "</a href=x>", ""},
	} {
		if got := linksOf("text/html", c.html); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestLinksOfOtherKinds(t *testing.T) {
	for _, c := range []struct{ name, contentType, body, want string }{
		{"a PDF has none", "application/pdf", `<a href=x>`, ""},
		{"a PDF called HTML", "text/html", "%PDF-1.4 <a href=x>", ""},
		{"text has none", "text/plain", `<a href=x>`, ""},
		{"no type, but tags", "", `Hello <a href=x>`, "/d/x a.href page"},
		{"css", "text/css", `@charset "utf-8";@import url(a);p{b:url("c\)d")} /* url(x) */ p::after{content:"y"}`,
			"/d/a css.@import requisite\n/d/c)d css.url() requisite"},
		{"svg", "image/svg+xml", `<?xml version="1.0"?><svg><title/><image href="a"/><style><![CDATA[p{fill:url(b)}]]></style><a href="c"/></svg>`, "/d/a image.href requisite\n/d/b style.url() requisite\n/d/c a.href page"},
		{"svg with markup in its doctype", "image/svg+xml",
			`<!DOCTYPE svg [<!ELEMENT svg (a)><!-- it's --><!ENTITY e "<b/><a href='no'/>"><?x <a href='no'/>?>]><svg><image href="a"/></svg>`, "/d/a image.href requisite"},
		{"xhtml", "application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><title/><script src="a"/><a href="b"/><![CDATA[<a href="c"/>]]></html>`, "/d/a script.src requisite\n/d/b a.href page"},
		{"svg with a style sheet", "image/svg+xml", `<?xml-stylesheet type="text/css" href='a.css?b&amp;c'?><svg/>`,
			"/d/a.css?b&c xml-stylesheet.href requisite"},
		{"manifest", "application/manifest+json",
			`{"icons":[{"src":"a"},{"src":5},7],"shortcuts":[{"url":"/b","icons":[{"src":"c"}]}],"start_url":".","screenshots":{}}`,
			"/d/a manifest.icons requisite\n/d/c manifest.shortcuts requisite\n/b manifest.shortcuts page\n/d/ manifest.start_url page"},
		{"RSS", "application/rss+xml", `<?xml version="1.0"?><rss><channel><title>t</title><link>http://h/</link><atom:link rel="self" href="/feed"/><item><title>a</title><link> /a?x&amp;y </link></item><item><link><![CDATA[/b?c&d]]></link><enclosure url="/e.mp3"/></item></channel></rss>`, "/a?x&y item.link page\n/b?c&d item.link page"},
		{"Atom", "application/atom+xml", `<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link href="/a"/><link rel="alternate" href="/b"/><link rel="edit" href="/c"/><content type="html">&lt;a href="/d"&gt;</content></entry></feed>`, "/a entry.link page\n/b entry.link page"},
		{"RSS 1.0", "application/rdf+xml", `<rdf:RDF><channel><link>/</link></channel><item rdf:about="x"><link>/a</link></item></rdf:RDF>`, "/a item.link page"},
		{"broken manifest", "application/manifest+json", `{"icons":[{"src":"a"}`, ""},
		{"xhtml called xml", "text/xml", `<html><script src="a"/><a href="b"/></html>`,
			"/d/a script.src requisite\n/d/b a.href page"},
	} {
		if got := linksOf(c.contentType, c.body); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestLinkHeaders(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`<a>; rel=next`, "/d/a header.Link page rel=next"},
		{`<a,b>;rel="preload stylesheet"; as=style, </c>; rel=canonical`,
			"/d/a,b header.Link requisite rel=preload+stylesheet\n/c header.Link alternate rel=canonical"},
		{`<a>; title="x, <b>; rel=\"y\""; rel=next`, "/d/a header.Link page rel=next"},
		{`<a>; rel=next; rel=stylesheet`, "/d/a header.Link page rel=next"},
		{`<a>; anchor="/x"; rel=next`, ""},
		{`<a>; anchor="#x"; rel=next`, "/d/a header.Link page rel=next"},
		{`<a> rel=next, <b>; REL=Next`, "/d/a header.Link hint\n/d/b header.Link page rel=next"},
		{`a; rel=next`, ""},
		{`<a`, ""},
		{`<a>; rel="next`, "/d/a header.Link page rel=next"},
		{`<a>;;; rel ; rel=next`, "/d/a header.Link hint"},
	} {
		d := Read(Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Link": {c.line}}}, Options{})
		if got := linkLines(d); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.line, got, c.want)
		}
	}
	d := Read(Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Refresh": {"0; url=x"}}}, Options{})
	if got := linkLines(d); got != "/d/x header.Refresh page" {
		t.Errorf("Refresh: got %q", got)
	}
}

func TestRefresh(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"5;url=x", "x"}, {"5; URL=x", "x"}, {"5, url = 'x y' z", "x y"}, {`0;url="x`, "x"}, {"5 url=x", "x"},
		{" 5 ; x", "x"}, {"5;'x'", "x"}, {"0.5;url=x", "x"}, {".5;url=x", "x"}, {"5;urlx", "urlx"}, {"5;url", "url"},
		{"5\n;\nurl\n=\nx", "x"}, {"url=x", "x"}, {"0;url=", ""}, {"5", ""}, {"", ""}, {"5;", ""}, {"5x", ""},
		{"x", ""}, {"-5;url=x", ""},
	} {
		got := ""
		if at, ok := parseRefresh(c.in); ok {
			got = c.in[at.from:at.to]
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestSrcset(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a", "a"}, {"a 1x, b 2x", "a|b"}, {"a,b", "a,b"}, {"a, b", "a|b"}, {"a,b 1x,c", "a,b|c"},
		{"data:image/png;base64,xx== 1x, b", "data:image/png;base64,xx==|b"}, {",,a,,", "a"}, {"", ""}, {" , ", ""},
		{"a (1, 2) 1x, b", "a|b"}, {"a (1, b", "a"}, {"a\n1x\t,\nb", "a|b"},
	} {
		var got []string
		eachCandidate(c.in, func(at span) bool { got = append(got, c.in[at.from:at.to]); return true })
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCSS(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`a{b:url(x)}`, "x"}, {`a{b:url( "x" )}`, "x"}, {`a{b:URL('x')}`, "x"}, {`url(x\)y\20 z)`, "x)y z"},
		{`url(\x)`, "x"},
		{`@import "x" layer(l) supports(display:grid) screen;`, "x!"}, {`@import url(x);`, "x!"},
		{`@IMPORT/**/'x'`, "x!"}, {`@\69mport "x";`, "x!"},
		{`@namespace "x"; @namespace p url(y);`, ""}, {`/* url(x) */ a{content:"url(y)"}`, ""},
		{`a{b:image-set("x" 1x, url(y) 2x type("image/png"))}`, "x|y"}, {`a{b:-webkit-image-set(url(x) 1x)}`, "x"},
		{`@font-face{src:url(x?#iefix) format("y"),local("z")}`, "x?#iefix"},
		{`url(`, ""}, {`url("`, ""}, {`url(x`, "x"}, {`url("x`, "x"}, {`url(a b)url(c)`, "c"}, {`"a
url(x)`, "x"}, {`url("a\
b")`, "ab"}, {`\75rl("x")`, "x"}, {`@import`, ""}, {`a{b:var(--x,url(y))}`, "y"}, {`url()`, ""}, {`url("")`, ""},
	} {
		var got []string
		eachCSSRef([]byte(c.in), func(r cssRef) bool {
			if r.url != "" {
				mark := ""
				if r.imported {
					mark = "!"
				}
				got = append(got, r.url+mark)
			}
			return true
		})
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func TestHead(t *testing.T) {
	d := Read(Page{
		URL:    weburl.MustParse("http://h/d/p"),
		Header: http.Header{"Content-Type": {"text/html"}, "Content-Language": {"de, en"}},
		Body:   []byte("<title> A &amp; &notit; \n B </title><title>C</title><base href=/b/><link rel='x CANONICAL' href=c><link rel=canonical href=e>"),
	}, Options{})
	if got, want := fmt.Sprint(d.Title, "|", d.Lang, "|", d.Canonical, "|", d.Base, "|", d.Charset, "|", d.Kind),
		"A & ¬it; B|de|http://h/b/c|http://h/b/|utf-8|html"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSkipped(t *testing.T) {
	long := strings.Repeat("x", weburl.MaxLength+1)
	d := Read(Page{URL: weburl.MustParse("http://h/"), Body: []byte(`<a href="mailto:x"><a href="` + long +
		`"><a href="http://[">` + `<img src="data:` + long + `">`)}, Options{})
	if want := (Skipped{Scheme: 2, TooLong: 1, Invalid: 1}); d.Skipped != want {
		t.Errorf("got %+v, want %+v", d.Skipped, want)
	}
}
