// Package markdown converts pages to Markdown. It keeps tables, code, lists and links, and
// leaves out what htmlmeta.ReadText leaves out and what must not appear in search results.
package markdown

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"curtsy/htmlmeta"
	"curtsy/publish/article"
)

// Writer converts pages to Markdown. It is not safe for concurrent use.
type Writer struct {
	c     *converter.Converter
	whole bool
}

// NewWriter makes a Writer; with whole, pages keep their navigation, banners and forms.
func NewWriter(whole bool) *Writer {
	return &Writer{whole: whole, c: converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(table.WithNewlineBehavior(table.NewlineBehaviorPreserve), table.WithHeaderPromotion(true),
			table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))}
}

// Of converts a page to CommonMark with tables, about max octets at most. A page that is not
// HTML yields the paragraphs that htmlmeta.ReadText finds.
func (w *Writer) Of(p htmlmeta.Page, max int) string {
	if htmlmeta.KindOf(p.Header, p.Body) == htmlmeta.HTML {
		if part, err := w.partOf(p); err == nil {
			if text, err := w.convert(part); err == nil {
				return cut(text, max)
			}
		}
	}
	if w.whole {
		return Paragraphs(htmlmeta.ReadWholeText(p, max))
	}
	return Paragraphs(htmlmeta.ReadText(p, max))
}

// partOf returns the part to convert: the article if the page has one, otherwise, or with
// whole, the page.
func (w *Writer) partOf(p htmlmeta.Page) (*html.Node, error) {
	read := htmlmeta.Readable
	if w.whole {
		read = htmlmeta.Whole
	}
	root, err := read(p)
	if err != nil {
		return nil, err
	}
	if !w.whole {
		if found, _ := article.Find(p, root); found != nil {
			return found, nil
		}
	}
	return body(root), nil
}

func (w *Writer) convert(part *html.Node) (string, error) {
	doc := goquery.NewDocumentFromNode(part)
	nameLanguages(doc)
	keepQueries(doc)
	dropMarks(doc)
	text, err := w.c.ConvertNode(part)
	return strings.TrimSpace(strings.ReplaceAll(string(text), asIs, "")), err
}

// asIs is put into the query of a URL during conversion, because the converter would encode the
// query again (%3B for ;, %20 for +). It leaves a query that net/url cannot parse as it is.
const asIs = "\x7f"

func keepQueries(doc *goquery.Document) {
	for _, name := range []string{"href", "src"} {
		doc.Find("[" + name + "*='?']").Each(func(_ int, s *goquery.Selection) {
			s.SetAttr(name, strings.Replace(s.AttrOr(name, ""), "?", "?"+asIs, 1))
		})
	}
}

// dropMarks removes links without text: anchors, and the permalink sign after a heading.
func dropMarks(doc *goquery.Document) {
	doc.Find("a").Each(func(_ int, a *goquery.Selection) {
		text := strings.TrimSpace(a.Text())
		switch _, leads := a.Attr("href"); {
		case a.Find("img").Length() > 0:
		case text == "", leads && !strings.ContainsFunc(text, isLetter) &&
			a.Closest("h1, h2, h3, h4, h5, h6, dt, caption").Length() > 0:
			a.Remove()
		case !leads:
			a.ReplaceWithSelection(a.Contents())
		}
	})
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Paragraphs writes blocks of text as Markdown.
func Paragraphs(blocks []htmlmeta.Block) string {
	var b strings.Builder
	for _, block := range blocks {
		text := escaped.Replace(block.Shown(""))
		switch {
		case text == "":
			continue
		case block.Head:
			b.WriteString("## ")
		case strings.ContainsRune("#+->=", rune(text[0])):
			b.WriteString(`\`)
		}
		b.WriteString(text + "\n\n")
	}
	return strings.TrimSpace(b.String())
}

// escaped escapes Markdown syntax.
var escaped = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<",
	`\<`, "&", `\&`)

// Escape escapes Markdown syntax in a line of text.
func Escape(text string) string { return escaped.Replace(text) }

// cut truncates a text to max octets, at the end of a paragraph if there is one.
func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	text = strings.ToValidUTF8(text[:max], "")
	if i := strings.LastIndex(text, "\n\n"); i > 0 {
		text = text[:i]
	}
	return text
}

// body returns the body element, or root if there is none.
func body(root *html.Node) *html.Node {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "body" {
			return n
		}
	}
	return root
}

// languageClass matches class names that tell the language of code: those of the HTML
// standard's example and Prism, Sphinx, GitHub, MediaWiki, Org mode and SyntaxHighlighter
// ("brush: LANGUAGE").
var languageClass = regexp.MustCompile(`(?:^|\s)(?:(?:mw-highlight-lang|language)-|highlight-(?:source-|text-)?|` +
	`src src-|brush:\s*)([\w+#-]+)`)

// noLanguage are the names that highlighters use for code of unknown language.
var noLanguage = []string{"default", "none", "auto", "plain", "plaintext", "text", "notranslate"}

// nameLanguages sets the class that the converter looks for on each pre, if an element near it
// names the language of the code.
func nameLanguages(doc *goquery.Document) {
	doc.Find("pre").Each(func(_ int, pre *goquery.Selection) {
		around := pre.Parent()
		for _, near := range []*goquery.Selection{pre, pre.Find("code").First(), around, around.Parent()} {
			if lang := languageOf(near); lang != "" {
				pre.SetAttr("class", "language-"+lang)
				return
			}
		}
	})
}

func languageOf(s *goquery.Selection) string {
	lang := cmp.Or(s.AttrOr("data-lang", ""), s.AttrOr("data-language", ""))
	if m := languageClass.FindStringSubmatch(s.AttrOr("class", "")); lang == "" && m != nil {
		lang = m[1]
	}
	if lang = strings.ToLower(lang); slices.Contains(noLanguage, lang) || strings.ContainsAny(lang, " \t\n`") {
		return ""
	}
	return lang
}
