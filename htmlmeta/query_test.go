package htmlmeta

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Unlike in browsers, the content of a template is queried too: x/net/html has it as
// children.
func TestQuery(t *testing.T) {
	page := `<!doctype html><html lang=de><title>T</title><main><h1 id=a class="x y">One  <b>two</b></h1><p>три</p></main><p>four<template><p>five</template>`
	for _, c := range []struct{ charset, body, selector, want string }{
		{"", page, "h1", `h1 "One two" [id=a class=x y]`},
		{"", page, "main p, main h1", `h1 "One two" [id=a class=x y]; p "три" []`},
		{"", page, "html[lang]", `html "TOne twoтриfourfive" [lang=de]`},
		{"", page, "p:nth-of-type(1)", `p "три" []; p "fourfive" []; p "five" []`},
		{"", page, "nothing", ""},
		{"windows-1251", "<p>\xf2\xf0\xe8", "p", `p "три" []`},
		{"", "\xff\xfe<\x00p\x00>\x00\x42\x04", "p", `p "т" []`},
		{"", "<meta charset=koi8-r><p>\xd4\xd2\xc9", "p", `p "три" []`},
		{"", "", "body", `body "" []`},
	} {
		h := http.Header{"Content-Type": {"text/html"}}
		if c.charset != "" {
			h.Set("Content-Type", "text/html; charset="+c.charset)
		}
		list, err := Query(Page{Header: h, Body: []byte(c.body)}, c.selector)
		if err != nil {
			t.Errorf("%s: %v", c.selector, err)
		}
		var got []string
		for _, s := range list {
			var attrs []string
			for _, a := range s.Attrs {
				attrs = append(attrs, a.Key+"="+a.Val)
			}
			got = append(got, fmt.Sprintf("%s %q %v", s.Tag, s.Text, attrs))
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%q in %q: got %s, want %s", c.selector, c.body, got, c.want)
		}
	}
	for _, selector := range []string{"", "[", "p::", ":nosuch", "a >"} {
		if _, err := Query(Page{Body: []byte(page)}, selector); err == nil {
			t.Errorf("%q is a selector", selector)
		}
	}
	if _, err := Query(Page{Body: []byte(strings.Repeat("<div>", 100_000))}, "div"); err == nil {
		t.Error("100,000 levels are read")
	}
}
