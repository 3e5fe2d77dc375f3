package htmlmeta

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Readable returns the tree of the readable content of a page: without what ReadText leaves out
// and what must not be shown in results, with absolute links. The error means that it is not
// HTML or nested too deep.
func Readable(p Page) (*html.Node, error) {
	var err error
	root := mostlyText(func(frugal bool) (root *html.Node, length int) {
		root, length, err = readable(p, frugal)
		return root, length
	})
	return root, err
}

// Whole is Readable with navigation, banners and forms.
func Whole(p Page) (*html.Node, error) {
	root, _, err := readable(p, false)
	return root, err
}

func readable(p Page, frugal bool) (*html.Node, int, error) {
	root, err := wholeTree(p)
	if err != nil {
		return nil, 0, err
	}
	t := &pruner{textRules: textRules{frugal: frugal}}
	t.base, _ = url.Parse(p.URL.String())
	t.prune(root)
	return root, t.length, nil
}

// pruner removes from a tree what is not read.
type pruner struct {
	textRules
	base   *url.URL // nil: references stay unchanged
	quiet  bool     // between <!--noindex--> and <!--/noindex-->
	length int      // octets of the remaining text
}

func (t *pruner) prune(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		t.child(n, c)
		c = next
	}
}

func (t *pruner) child(parent, c *html.Node) {
	switch c.Type {
	case html.CommentNode:
		switch strings.ToLower(c.Data) {
		case "noindex":
			t.quiet = true
		case "/noindex":
			t.quiet = false
		}
		parent.RemoveChild(c)
	case html.TextNode:
		if t.quiet {
			parent.RemoveChild(c)
		}
		t.length += len(strings.TrimSpace(c.Data))
	case html.ElementNode:
		t.element(parent, c)
	}
}

func (t *pruner) element(parent, c *html.Node) {
	what := t.here(roleOf[c.Data].role)
	for _, a := range c.Attr {
		what = withAttribute(&t.textRules, what, a.Key, a.Val)
	}
	if what&(isNever|isQuiet) != 0 {
		if c.Data == "head" {
			t.findBase(c)
		}
		parent.RemoveChild(c)
		return
	}
	if what&isMain != 0 {
		t.main++
		defer func() { t.main-- }()
	}
	for i, a := range c.Attr {
		if a.Key != "href" && a.Key != "src" {
			continue
		}
		if c.Attr[i].Val = t.absolute(a.Val); c.Attr[i].Val == "" { // its text stays
			c.Data, c.DataAtom, c.Attr = "span", atom.Span, nil
			break
		}
	}
	t.prune(c)
}

func (t *pruner) findBase(head *html.Node) {
	for c := range head.Descendants() {
		if c.Data == "base" && attrOf(c, "href") != "" {
			if u, err := url.Parse(attrOf(c, "href")); err == nil && t.base != nil {
				t.base = t.base.ResolveReference(u)
			}
			return
		}
	}
}

// absolute resolves a reference for text that is used outside of its page; "" if it cannot be
// used there.
func (t *pruner) absolute(ref string) string {
	u, err := url.Parse(strings.TrimSpace(ref))
	if err != nil || t.base == nil {
		return ""
	}
	u = t.base.ResolveReference(u)
	switch u.Scheme {
	case "http", "https", "mailto", "ftp":
		return u.String()
	}
	return ""
}
