package markdown

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// languageClass is how the class of an element names the language of its code: as HTML
// suggests it and Prism has it, and as Sphinx, GitHub, MediaWiki, Org mode and
// SyntaxHighlighter ("brush: LANGUAGE") have it.
var languageClass = regexp.MustCompile(`(?:^|\s)(?:(?:mw-highlight-lang|language)-|highlight-(?:source-|text-)?|` +
	`src src-|brush:\s*)([\w+#-]+)`)

// noLanguage are what highlighters say of code whose language they are not told.
var noLanguage = []string{"default", "none", "auto", "plain", "plaintext", "text", "notranslate"}

// nameLanguages gives each pre the class that the converter looks for, where an element
// near it names the language of the code.
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
