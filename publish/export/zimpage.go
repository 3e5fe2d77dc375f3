package export

import (
	"bytes"
	"regexp"
	"slices"

	"golang.org/x/net/html"
)

// These match what zimcheck takes for a reference even in text, and empty references, which it
// takes for broken ones.
var (
	likeLink  = regexp.MustCompile(`( (?:href|src) *= *)(["'])`)
	emptyHref = regexp.MustCompile(`( href *= *)(?:""|'')`)
	emptySrc  = regexp.MustCompile(` src *= *(?:""|'')`)
)

// rawText are the elements whose text has no character references.
var rawText = []string{"script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"}

// zimPage rewrites a page so that zimcheck finds the same references as browsers: quotes in
// text become character references, comments are removed, and empty references name the page
// itself (own). Scripts are left alone.
func zimPage(page []byte, own string) []byte {
	if !likeLink.Match(page) && !emptyHref.Match(page) && !emptySrc.Match(page) {
		return page
	}
	out := bytes.NewBuffer(make([]byte, 0, len(page)+64))
	t := html.NewTokenizer(bytes.NewReader(page))
	raw := false
	for {
		kind := t.Next()
		if kind == html.ErrorToken {
			out.Write(t.Raw()) // the page ends within a tag
			return out.Bytes()
		}
		text := t.Raw()
		switch kind {
		case html.TextToken:
			if !raw {
				text = likeLink.ReplaceAllFunc(text, quoted)
			}
		case html.CommentToken:
			if likeLink.Match(text) {
				text = nil
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			text = emptySrc.ReplaceAll(emptyHref.ReplaceAll(text, []byte("${1}\""+own+"\"")), nil)
			name, _ := t.TagName()
			raw = kind == html.StartTagToken && slices.Contains(rawText, string(name))
		case html.EndTagToken:
			raw = false
		}
		out.Write(text)
	}
}

// quoted replaces the quote at the end of found by a character reference.
func quoted(found []byte) []byte {
	entity := "&#34;"
	if found[len(found)-1] == '\'' {
		entity = "&#39;"
	}
	return append(bytes.Clone(found[:len(found)-1]), entity...)
}
