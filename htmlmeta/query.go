package htmlmeta

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// Selected is an element matched by a selector.
type Selected struct {
	Tag   string
	Text  string // its text, white space collapsed
	Attrs []html.Attribute
}

// Query applies a user's CSS selector to the full tree of a page. It is slow compared with
// Read, which builds a small tree of the relevant tags. The error is about the selector, or a
// tree that is too deep.
func Query(p Page, selector string) ([]Selected, error) {
	sel, err := cascadia.Compile(selector)
	if err != nil {
		return nil, fmt.Errorf("select %q: %w", selector, err)
	}
	root, err := wholeTree(p)
	if err != nil {
		return nil, fmt.Errorf("select %q: %w", selector, err)
	}
	var found []Selected
	goquery.NewDocumentFromNode(root).FindMatcher(sel).Each(func(_ int, s *goquery.Selection) {
		found = append(found, Selected{
			Tag:   goquery.NodeName(s),
			Text:  strings.Join(strings.Fields(s.Text()), " "),
			Attrs: s.Nodes[0].Attr,
		})
	})
	return found, nil
}

// wholeTree parses the full tree of a page; the error means that it is too deep.
func wholeTree(p Page) (*html.Node, error) {
	return html.ParseWithOptions(bytes.NewReader(textOf(p)), html.ParseOptionEnableScripting(false))
}

// textOf returns a page's body in UTF-8, decoded with the charset that Read finds.
func textOf(p Page) []byte {
	code, body, _, asXML := textAndKind(p)
	if code.wide() {
		return body
	}
	r := readers.Get().(*reader)
	defer r.free()
	body = r.scanAll(body, &code, asXML)
	if code.enc == nil || code.wide() {
		return bytes.ToValidUTF8(bytes.TrimPrefix(body, []byte(bomUTF8)), []byte("\uFFFD"))
	}
	return decodeAll(code, body)
}
