// Package article answers: which part of a page is its article? Only pages that call
// themselves an article are asked; in others htmlmeta.ReadText finds as much and loses
// less (docs/corpus.md has the figures).
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

// declared is how a page calls itself an article: Open Graph, or a type of
// schema.org in JSON-LD or microdata.
var declared = regexp.MustCompile(`(?i)og:type["'][^>]{0,40}content=["']article|` +
	`content=["']article["'][^>]{0,40}og:type|` +
	`"@type"\s*:\s*\[?\s*"(?:\w*Article|BlogPosting)"|itemtype=["']https?://schema.org/(?:\w*Article|BlogPosting)["']`)

// markers are one of what each of its alternatives has. Most pages have none, and to
// look for them is a hundredth of the work.
var markers = [][]byte{[]byte("og:type"), []byte(`"@type"`), []byte("schema.org/")}

func isDeclared(body []byte) bool {
	return slices.ContainsFunc(markers, func(m []byte) bool { return bytes.Contains(body, m) }) && declared.Match(body)
}

// Bounds of what is analysed; pages beyond them are given whole.
const (
	mostElements = 30_000
	mostLetters  = 200_000
)

// Find is the article within the tree of a page (htmlmeta.Readable), and its title;
// nil where the page does not call itself an article, or where what is found is less
// than half of its text: then it is a thread or a list.
func Find(p htmlmeta.Page, root *html.Node) (found *html.Node, title string) {
	if !isDeclared(p.Body) {
		return nil, ""
	}
	return find(root)
}

func find(root *html.Node) (found *html.Node, title string) {
	defer func() {
		if recover() != nil { // readability, of a page that was made to break it
			found, title = nil, ""
		}
	}()
	whole := len(lettersOf(textOf(root)))
	if whole > mostLetters {
		return nil, ""
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse = mostElements
	parser.KeepClasses = true // they name the languages of code
	a, err := parser.ParseDocument(root, nil)
	if err != nil || a.Node == nil || 2*len(lettersOf(textOf(a.Node))) < whole {
		return nil, ""
	}
	return a.Node, a.Title()
}

// Blocks are those blocks of a page (htmlmeta.ReadText) that are its article, or all
// of them where there is none.
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

// lettersOf is a text without what extractors change: blanks and signs.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
