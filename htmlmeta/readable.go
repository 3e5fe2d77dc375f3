package htmlmeta

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Readable is the tree of what a person reads in a page: without what ReadText
// leaves out and what must not be shown in results, its links absolute. An error
// says that it is no HTML or too deep.
func Readable(p Page) (*html.Node, error) {
	root, length, err := readable(p, true)
	if err != nil || length >= fewestOctets {
		return root, err
	}
	all, longer, err := readable(p, false)
	if err == nil && longer > 2*length {
		return all, nil
	}
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
	t := &pruner{frugal: frugal}
	t.base, _ = url.Parse(p.URL.String())
	t.prune(root)
	return root, t.length, nil
}

// pruner takes out of a tree what is not read.
type pruner struct {
	base   *url.URL // nil: references stay as they are
	frugal bool
	main   int
	quiet  bool // between <!--noindex--> and <!--/noindex-->
	length int  // octets of text that are left
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
	isMain := roleOf[c.Data]&isMain != 0 || strings.EqualFold(attribute(c, "role"), "main")
	if t.leaves(c) {
		if c.Data == "head" {
			t.findBase(c)
		}
		parent.RemoveChild(c)
		return
	}
	if isMain {
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

// leaves says whether an element is left out, by the rules of textReader.
func (t *pruner) leaves(c *html.Node) bool {
	what := roleOf[c.Data]
	if what&isNever != 0 || c.Data == "noindex" || t.frugal &&
		(what&isAside != 0 || what&isMargin != 0 && t.main == 0) {
		return true
	}
	for _, a := range c.Attr {
		switch a.Key {
		case "hidden", "data-nosnippet":
			return true
		case "aria-hidden":
			return strings.EqualFold(a.Val, "true")
		case "role":
			switch strings.ToLower(a.Val) {
			case "navigation", "banner", "contentinfo", "search", "complementary":
				return t.frugal && t.main == 0
			}
		}
	}
	return false
}

func (t *pruner) findBase(head *html.Node) {
	for c := range head.Descendants() {
		if c.Data == "base" && attribute(c, "href") != "" {
			if u, err := url.Parse(attribute(c, "href")); err == nil && t.base != nil {
				t.base = t.base.ResolveReference(u)
			}
			return
		}
	}
}

// absolute is a reference as it stands in a text that leaves its page; "" is one
// that leads nowhere from there.
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

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
