package htmlmeta

import (
	"cmp"
	"strings"

	"golang.org/x/net/html"

	"curtsy/usage"
)

// readHead reads what is said about the page as a whole. The base comes
// first: what follows is relative to it. Values of HTML's own keywords are compared
// without case.
func (r *reader) readHead(src []byte) {
	var language string
	for n := range r.nodes(src) {
		switch n.tag {
		case tagBase:
			r.base(n.get("href"))
		case tagMeta:
			name, named := n.attr(attrNames.of("name"))
			content, ok := n.attr(attrNames.of("content"))
			if named && ok {
				r.doc.Directives.readMeta(name, content, r.links.opts)
			}
			if language == "" && hasWord(relWords(n.get("http-equiv")), "content-language") {
				language = content
			}
		}
	}
	var lang, xmlLang string
	titled := false
	for n := range r.nodes(src) {
		switch n.tag {
		case tagHTML:
			lang, xmlLang = cmp.Or(lang, n.get("lang")), cmp.Or(xmlLang, n.get("xml:lang"))
		case tagLink:
			rel := relWords(n.get("rel"))
			href, ok := n.attr(attrHref)
			r.canonical(rel, href)
			if ok && hasWord(rel, "license") {
				r.license(rel, n.get("type"), href, usage.InLink)
			}
		case tagTitle:
			if !titled {
				r.doc.Title, titled = titleText(string(n.content())), true
			}
		}
	}
	r.language(lang, xmlLang, firstLang(language))
}

// base takes in what a base element names. One that is no URL, or data: or
// javascript:, is none (HTML §4.2.3).
func (r *reader) base(href string) {
	if href == "" {
		return
	}
	if u, err := r.links.resolve(href); err == nil {
		r.doc.Base, r.links.base = u, u
	}
}

// canonical takes in a link whose rel may be canonical; the first counts.
func (r *reader) canonical(rel, href string) {
	if !r.doc.Canonical.IsZero() || !hasWord(rel, "canonical") || strings.Trim(href, asciiBlank) == "" {
		return
	}
	if u, err := r.links.resolve(href); err == nil {
		r.doc.Canonical = u
	}
}

// license takes in a link that may lead to a license.
func (r *reader) license(rel, mediaType, href, source string) {
	u, err := r.links.resolve(href)
	if err != nil {
		return
	}
	if s, ok := usage.OfLink(rel, mediaType, u.String(), source); ok {
		r.doc.Directives.say(s)
	}
}

// language takes the first of several that names one.
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

// maxTitle bounds a title, in bytes.
const maxTitle = 1024

// titleText decodes a title's entities, which are those of text and not of
// attributes, and makes blanks one.
func titleText(s string) string {
	s = html.UnescapeString(s[:min(len(s), 8*maxTitle)])
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxTitle {
		s = s[:maxTitle]
	}
	return strings.ToValidUTF8(s, "")
}
