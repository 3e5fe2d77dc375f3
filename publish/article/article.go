// Package article finds the article on a page. It handles only pages that declare themselves an
// article; on others htmlmeta.ReadText finds as much and loses less (figures in
// docs/corpus.md).
package article

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"

	"curtsy/htmlmeta"
)

// declared matches how a page declares itself an article: Open Graph, or a schema.org type in
// JSON-LD or microdata.
var declared = regexp.MustCompile(`(?i)og:type["'][^>]{0,40}content=["']article|` +
	`content=["']article["'][^>]{0,40}og:type|` +
	`"@type"\s*:\s*\[?\s*"(?:\w*Article|BlogPosting)"|itemtype=["']https?://schema.org/(?:\w*Article|BlogPosting)["']`)

// markers holds a substring of each alternative of declared. Most pages contain none of them,
// and searching for them costs a hundredth of the regular expression.
var markers = [][]byte{[]byte("og:type"), []byte(`"@type"`), []byte("schema.org/")}

func isDeclared(body []byte) bool {
	return slices.ContainsFunc(markers, func(m []byte) bool { return bytes.Contains(body, m) }) && declared.Match(body)
}

// Limits of what is analysed; larger pages are returned whole.
const (
	mostElements = 30_000
	mostLetters  = 200_000
)

// Find returns the article within the tree of a page (htmlmeta.Readable), and its title. It
// returns nil if the page does not declare itself an article, or if the article found has less
// than half of the page's text, as in threads and lists.
func Find(p htmlmeta.Page, root *html.Node) (found *html.Node, title string) {
	if !isDeclared(p.Body) {
		return nil, ""
	}
	return find(root)
}

func find(root *html.Node) (found *html.Node, title string) {
	defer func() {
		if recover() != nil { // readability panics on some malformed pages
			found, title = nil, ""
		}
	}()
	whole := len(lettersOf(textOf(root)))
	if whole > mostLetters {
		return nil, ""
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse = mostElements
	parser.KeepClasses = true // they name the language of code blocks
	a, err := parser.ParseDocument(root, nil)
	if err != nil || a.Node == nil || 2*len(lettersOf(textOf(a.Node))) < whole {
		return nil, ""
	}
	return a.Node, a.Title()
}

// Blocks returns the blocks of a page (htmlmeta.ReadText) that belong to its article, or all of
// them if it has none.
func Blocks(p htmlmeta.Page, blocks []htmlmeta.Block) []htmlmeta.Block {
	if !isDeclared(p.Body) {
		return blocks
	}
	root, err := htmlmeta.Readable(p)
	if err != nil {
		return blocks
	}
	found, title := find(root)
	if found == nil {
		return blocks
	}
	article := lettersOf(title + "\n" + textOf(found))
	kept := []htmlmeta.Block{}
	for _, b := range blocks {
		if strings.Contains(article, lettersOf(b.Shown(""))) {
			kept = append(kept, b)
		}
	}
	return kept
}

func textOf(root *html.Node) string {
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

// lettersOf removes what extractors may change: white space and punctuation.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
