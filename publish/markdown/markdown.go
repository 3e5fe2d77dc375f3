// Package markdown answers: what does a page say, as Markdown? Tables, code, lists
// and links stay what they are; what htmlmeta.ReadText leaves out, and what must not
// be shown in results, is left out here too.
package markdown

import (
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

// Writer makes Markdown of pages, one at a time.
type Writer struct {
	c     *converter.Converter
	whole bool
}

// NewWriter makes a writer; of whole pages, with navigation, banners and forms.
func NewWriter(whole bool) *Writer {
	return &Writer{whole: whole, c: converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(table.WithNewlineBehavior(table.NewlineBehaviorPreserve), table.WithHeaderPromotion(true),
			table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))}
}

// Of is a page as CommonMark with tables, at most about max octets of it. Of what is
// no HTML it is the paragraphs that htmlmeta.ReadText finds.
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

// partOf is what is written of a page: its article if it has one, unless all is asked for.
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

// asIs is in the query of a URL while the converter has it: it would encode the query
// anew, with %3B for ; and %20 for +. What net/url does not parse it leaves as it is.
const asIs = "\x7f"

func keepQueries(doc *goquery.Document) {
	for _, name := range []string{"href", "src"} {
		doc.Find("[" + name + "*='?']").Each(func(_ int, s *goquery.Selection) {
			s.SetAttr(name, strings.Replace(s.AttrOr(name, ""), "?", "?"+asIs, 1))
		})
	}
}

// dropMarks takes out links that say nothing: places to link to, and the sign behind a
// heading that links to itself.
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

// Paragraphs are blocks of text as Markdown.
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

// escaped keeps text from being read as Markdown.
var escaped = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<",
	`\<`, "&", `\&`)

// Escape keeps a line of text from being read as Markdown.
func Escape(text string) string { return escaped.Replace(text) }

// cut ends a text at the end of a paragraph.
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

// body is the element that holds what a page shows.
func body(root *html.Node) *html.Node {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "body" {
			return n
		}
	}
	return root
}
