package markdown

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

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
