package export

import (
	"bytes"
	"regexp"
	"slices"

	"golang.org/x/net/html"
)

// What zimcheck takes for a reference wherever it stands, even in text, and
// references to nothing, which it takes for broken ones.
var (
	likeLink  = regexp.MustCompile(`( (?:href|src) *= *)(["'])`)
	emptyHref = regexp.MustCompile(`( href *= *)(?:""|'')`)
	emptySrc  = regexp.MustCompile(` src *= *(?:""|'')`)
)

// rawText are the elements whose text has no character references.
var rawText = []string{"script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"}

// zimPage is a page with the same document in a form in which zimcheck finds the
// references that browsers do: quotes in text are character references, what is
// commented out is gone, and a reference to nothing names the page, own. Scripts are
// left alone.
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
			out.Write(t.Raw()) // an end within a tag
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

// quoted is a reference in text with its quote as a character reference.
func quoted(found []byte) []byte {
	entity := "&#34;"
	if found[len(found)-1] == '\'' {
		entity = "&#39;"
	}
	return append(bytes.Clone(found[:len(found)-1]), entity...)
}
