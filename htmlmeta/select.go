package htmlmeta

import (
	"cmp"
	"iter"
	"strings"

	"golang.org/x/net/html"

	"curtsy/usage"
)

// selectHead reads what describes the page as a whole. The base comes first, since other
// references are relative to it.
func (r *reader) selectHead(all []node) {
	r.base(firstAttr(all, tagBase, "href"))
	language := ""
	for n := range withTag(all, tagMeta) {
		content, ok := n.lookUp("content")
		if name, named := n.lookUp("name"); named && ok {
			r.doc.Directives.readMeta(name, content, r.links.opts)
		}
		if hasToken(n.attr("http-equiv"), "content-language") {
			language = cmp.Or(language, content)
		}
	}
	for n := range withTag(all, tagLink) {
		if hasToken(n.attr("rel"), "canonical") {
			r.canonical(relWords(n.attr("rel")), n.attr("href"))
		}
		if href, ok := n.lookUp("href"); ok && hasToken(n.attr("rel"), "license") {
			r.license(relWords(n.attr("rel")), n.attr("type"), href, usage.InLink)
		}
	}
	for n := range withTag(all, tagTitle) {
		r.doc.Title = titleText(n.text)
		break
	}
	r.language(firstAttr(all, tagHTML, "lang"), firstAttr(all, tagHTML, "xml:lang"), firstLang(language))
}

// withTag yields the nodes of a tag.
func withTag(all []node, tag name) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for i := range all {
			if all[i].tag == tag && !yield(&all[i]) {
				return
			}
		}
	}
}

// firstAttr returns the first non-empty value of an attribute among the nodes of a tag.
func firstAttr(all []node, tag name, key string) string {
	for n := range withTag(all, tag) {
		if v := n.attr(key); v != "" {
			return v
		}
	}
	return ""
}

// hasToken reports whether a list separated by ASCII blanks has a word, ignoring case.
func hasToken(list, word string) bool {
	for w := range strings.FieldsFuncSeq(list, func(r rune) bool { return strings.ContainsRune(asciiBlank, r) }) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
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
