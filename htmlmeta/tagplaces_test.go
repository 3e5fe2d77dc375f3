package htmlmeta

import (
	"bytes"
	"net/http"
	"testing"

	"curtsy/internal/weburl"
)

// byPlaces checks that Rewrite gives the same result with the places that Read found as without
// them.
func byPlaces(t *testing.T, contentType string, src []byte) {
	t.Helper()
	p := Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {contentType}}, Body: src}
	o := Rewriting{Ref: testRef, NoTranslate: true, Policy: "p", Script: "s.js", Head: "<!--head-->",
		Inline: func(u weburl.URL, _ string) (string, weburl.URL) { return "<svg/>", u }}
	for range 2 {
		want := Rewrite(p, o)
		p.Tags = Read(p, Options{}).Tags
		got := Rewrite(p, o)
		if !bytes.Equal(got.Body, want.Body) || got.Scripted != want.Scripted ||
			len(got.NeedsHTTP) != len(want.NeedsHTTP) {
			t.Fatalf("%s %q: by places\n%q, want\n%q", contentType, src, got.Body, want.Body)
		}
		p.Tags, o.NoTranslate, o.Head, o.Script = nil, false, "", ""
	}
}

var pagesWithPlaces = []string{
	"", "text", "<p>no head<a href=x>", "<a href=x>",
	"<html><head><title>t</title></head><body><a href=x>y</a></body></html>",
	"<head><html lang=x><a href=/y>", "<head><htll lang=x><a ", "<a x><base>", "<base><a href=x>", "<head></head><b>x</b><a href=y>",
	"<b>x<html><head><body>", "<!doctype html><html class=a><p><head><a href=x>",
	"<base href=/b/><a href=x><base href=/c/>", "<textarea><a href=x></textarea><a href=y>",
	"<script>x</script><a href=z>",
	"<svg><title><a href=x></title><style>p{b:url(y)}</style><use href='/s.svg#a'/></svg></body><a href=w></body>",
	"<math><mi><a href=x></mi></math><template><meta http-equiv=Content-Security-Policy content=x></template><a href=y>",
	"<meta charset=koi8-r><a href='/\xd1'>", "<meta charset=utf-16le><a href=x>",
	"<a href=x href=y style='a:url(b)'><iframe srcdoc='<a href=x>'></iframe>",
	"<link rel=stylesheet href=x integrity=y><noscript><img src=x></noscript><plaintext><a href=x>",
	"<img srcset='a 1x,b 2x' src=c", "</body><a href=x><a href",
}

func TestRewriteByPlaces(t *testing.T) {
	for _, typ := range []string{"text/html", "application/xhtml+xml", "text/html; charset=utf-16le",
		"text/html; charset=windows-1251"} {
		for _, src := range append(pagesWithPlaces, oddMarkup...) {
			byPlaces(t, typ, []byte(src))
		}
	}
	for name := range corpora {
		t.Run(name, func(t *testing.T) {
			for _, src := range corpus(t, name, 10*corpusStep()) {
				byPlaces(t, "text/html", src)
			}
		})
	}
}

func FuzzRewriteByPlaces(f *testing.F) {
	for _, src := range append(pagesWithPlaces, oddMarkup...) {
		f.Add("text/html", []byte(src))
	}
	f.Fuzz(byPlaces)
}

// TestRewriteByWrongPlaces checks that places of another body do not make Rewrite panic.
func TestRewriteByWrongPlaces(t *testing.T) {
	src := []byte(`<p><a href=x>y</a><script>"<a href=y>"</script><a href=z>`)
	for _, list := range [][]uint32{{0}, {3, 3}, {5}, {1 << 31}, {uint32(len(src))}, {0, 3, 13, 26}, {44}} {
		Rewrite(Page{URL: weburl.MustParse("http://h/"), Header: htmlHeader, Body: src, Tags: list},
			Rewriting{Ref: testRef})
	}
}
