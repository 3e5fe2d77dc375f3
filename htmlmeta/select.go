package htmlmeta

import (
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"curtsy/usage"
)

// Selectors for what describes the page as a whole. HTML keywords are matched ignoring case.
var (
	selHead      = cascadia.MustCompile(`html, base, meta, title, link`)
	selBase      = cascadia.MustCompile(`base[href]`)
	selRobots    = cascadia.MustCompile(`meta[name][content]`)
	selCanonical = cascadia.MustCompile(`link[rel~="canonical" i][href]`)
	selLicense   = cascadia.MustCompile(`link[rel~="license" i][href]`)
	selTitle     = cascadia.MustCompile(`title`)
	selHTML      = cascadia.MustCompile(`html`)
	selLanguage  = cascadia.MustCompile(`meta[http-equiv~="content-language" i][content]`)
)

// selectHead reads what describes the page as a whole. The base comes first, since other
// references are relative to it.
func (r *reader) selectHead(all *goquery.Selection) {
	head := all.FilterMatcher(selHead)
	r.base(attrOfFirst(head.FilterMatcher(selBase), "href"))
	for _, n := range head.FilterMatcher(selRobots).Nodes {
		r.doc.Directives.readMeta(attrOf(n, "name"), attrOf(n, "content"), r.links.opts)
	}
	for _, n := range head.FilterMatcher(selCanonical).Nodes {
		r.canonical(relWords(attrOf(n, "rel")), attrOf(n, "href"))
	}
	for _, n := range head.FilterMatcher(selLicense).Nodes {
		r.license(relWords(attrOf(n, "rel")), attrOf(n, "type"), attrOf(n, "href"), usage.InLink)
	}
	r.doc.Title = titleText(head.FilterMatcher(selTitle).First().Text())
	root := head.FilterMatcher(selHTML)
	r.language(attrOfFirst(root, "lang"), attrOfFirst(root, "xml:lang"),
		firstLang(attrOfFirst(head.FilterMatcher(selLanguage), "content")))
}

// base applies a base element. It ignores invalid URLs and data: and javascript: (HTML §4.2.3).
func (r *reader) base(href string) {
	if href == "" {
		return
	}
	if u, err := r.links.resolve(href); err == nil {
		r.doc.Base, r.links.base = u, u
	}
}

// canonical handles a link that may be canonical; the first one counts.
func (r *reader) canonical(rel, href string) {
	if !r.doc.Canonical.IsZero() || !hasWord(rel, "canonical") || strings.Trim(href, asciiBlank) == "" {
		return
	}
	if u, err := r.links.resolve(href); err == nil {
		r.doc.Canonical = u
	}
}

// license handles a link that may lead to a license.
func (r *reader) license(rel, mediaType, href, source string) {
	u, err := r.links.resolve(href)
	if err != nil {
		return
	}
	if s, ok := usage.OfLink(rel, mediaType, u.String(), source); ok {
		r.doc.Directives.say(s)
	}
}

// language sets the language to the first non-empty name.
func (r *reader) language(names ...string) {
	for _, name := range names {
		if lang := strings.Trim(name, asciiBlank); lang != "" {
			r.doc.Lang = strings.Clone(lang)
			return
		}
	}
}

// attrOfFirst returns the first non-empty value of an attribute in a selection.
func attrOfFirst(sel *goquery.Selection, key string) string {
	for _, n := range sel.Nodes {
		if v := attrOf(n, key); v != "" {
			return v
		}
	}
	return ""
}

func firstLang(s string) string {
	s, _, _ = strings.Cut(s, ",")
	return strings.Trim(s, asciiBlank)
}

// maxTitle is the maximum length of a title in bytes.
const maxTitle = 1024

// titleText decodes a title's character references, by the rules for text rather than
// attributes, and collapses white space.
func titleText(s string) string {
	s = html.UnescapeString(s[:min(len(s), 8*maxTitle)])
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxTitle {
		s = s[:maxTitle]
	}
	return strings.ToValidUTF8(s, "")
}

// selPlaces selects the elements that may have links, by the table.
var selPlaces goquery.Matcher = placeMatcher{}

type placeMatcher struct{}

func (placeMatcher) Match(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	tag := find(tagNames, n.Data)
	if tag == tagStyle || tag == tagScript {
		return true
	}
	row := &placeOf[tag]
	for i := range n.Attr {
		if p := row[find(attrNames, n.Attr[i].Key)]; p != 0 && places[p-1].form != aside {
			return true
		}
	}
	return false
}

func (m placeMatcher) MatchAll(root *html.Node) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if m.Match(n) {
			found = append(found, n)
		}
	}
	return found
}

func (m placeMatcher) Filter(nodes []*html.Node) []*html.Node {
	found := make([]*html.Node, 0, len(nodes))
	for _, n := range nodes {
		if m.Match(n) {
			found = append(found, n)
		}
	}
	return found
}
