package htmlmeta

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"curtsy/internal/weburl"
)

// FuzzRead checks that Read never panics and that its results keep the documented guarantees.
func FuzzRead(f *testing.F) {
	for _, src := range oddMarkup {
		f.Add("text/html", []byte(src))
	}
	f.Add("text/css", []byte(`@import "a";p{b:url(c)}`))
	f.Add("image/svg+xml", []byte(`<?xml version="1.0"?><svg><style><![CDATA[p{fill:url(b)}]]></style></svg>`))
	f.Add("text/html; charset=iso-2022-jp", []byte("<a href=\x1b$B\x3c\x3e>"))
	f.Add("text/html", []byte("\xff\xfe<\x00a\x00"))
	f.Add("text/html", []byte(`<iframe srcdoc="<iframe srcdoc='<iframe srcdoc=&amp;quot;<a href=x>&amp;quot;>'>">`))
	f.Add("text/html", []byte(`<style>p{a:url(</style><p style="url(&quot;\"><meta http-equiv=refresh content="0;url=x"><img srcset=",a 1x,">`))
	f.Fuzz(func(t *testing.T, contentType string, src []byte) {
		before := bytes.Clone(src)
		d := Read(Page{URL: weburl.MustParse("http://h/d/p"), Header: http.Header{"Content-Type": {contentType},
			"Link": {contentType}, "X-Robots-Tag": {contentType}}, Body: src}, Options{Agents: []string{"curtsy"}})
		if !bytes.Equal(before, src) {
			t.Fatal("the body was changed")
		}
		seen := map[string]bool{}
		for _, l := range d.Links {
			key := l.Kind.String() + " " + l.URL.String()
			if u, err := weburl.Parse(l.URL.String()); err != nil || u != l.URL || seen[key] {
				t.Fatalf("link %s: %v, twice %v", l.URL, err, seen[key])
			}
			seen[key] = true
		}
	})
}

// FuzzDirectives checks that a line for one agent never makes it freer, and that the order does
// not matter.
func FuzzDirectives(f *testing.F) {
	for _, s := range []string{"noindex", "otherbot: noindex, curtsy: max-snippet:5",
		"unavailable_after: Fri, 25-Jun-10 15:00 PST, none", "a:b:c, :,;;: unavailable_after:,,,",
		"noai curtsy: otherbot: x, noindex", "foo curtsy: unavailable_after: Fri, 15:00 NONE 25 Jun 2010 noindex"} {
		f.Add(s, "nofollow")
	}
	o := Options{Agents: []string{"curtsy"}}
	f.Fuzz(func(t *testing.T, a, b string) {
		one := ReadDirectives(http.Header{"X-Robots-Tag": {a, b}}, o)
		two := ReadDirectives(http.Header{"X-Robots-Tag": {b, a}}, o)
		if brief(one) != brief(two) {
			t.Fatalf("%q, %q: %s but %s", a, b, brief(one), brief(two))
		}
		none := ReadDirectives(http.Header{"X-Robots-Tag": {a}}, Options{})
		own := ReadDirectives(http.Header{"X-Robots-Tag": {a}}, o)
		if !none.NoIndex && none.NoFollow && !own.NoFollow || none.NoIndex && !own.NoIndex {
			t.Fatalf("%q: the name makes free", a)
		}
	})
}

// FuzzSrcset checks that candidates lie in order within the text, without spaces.
func FuzzSrcset(f *testing.F) {
	for _, s := range []string{"a 1x, b 2x", "a,b", "a (,) 1x,b", ",,a,,", "data:,x 1x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		eachCandidate(s, func(at span) bool {
			if at.from < end || at.to <= at.from || strings.ContainsAny(s[at.from:at.to], asciiBlank) {
				t.Fatalf("%q: %v after %d", s, at, end)
			}
			end = at.to
			return true
		})
	})
}

// FuzzCSS checks that references lie in order within the source.
func FuzzCSS(f *testing.F) {
	for _, s := range []string{`url(`, `url("`, `url("\`, `url(\`, `@import "a`, `image-set("a" 1x,url(b))`,
		`a{b:url( c )}/*`, `@import url(a) x;url(b)`, `\75rl("x")`, "url(\"a\nb\")"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		end := 0
		eachCSSRef(s, func(r cssRef) bool {
			if r.at.from < end || r.at.to < r.at.from || r.at.to > len(s) {
				t.Fatalf("%q: %v after %d", s, r.at, end)
			}
			end = r.at.to
			return true
		})
	})
}
