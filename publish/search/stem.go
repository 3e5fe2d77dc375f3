package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
	"golang.org/x/text/unicode/norm"
)

// snowball are the Snowball stemmers by language.
var snowball = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "nl": dutch.Stem, "en": english.Stem, "fi": finnish.Stem, "fr": french.Stem,
	"de": german.Stem, "hu": hungarian.Stem, "it": italian.Stem, "no": norwegian.Stem, "pt": portuguese.Stem,
	"ro": romanian.Stem, "ru": russian.Stem, "es": spanish.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// maxWord is the maximum length of an indexed word, in octets.
const maxWord = 64

// stem returns the indexed form of a word from a page in a language. The script of the word
// matters too: Latin words in a Russian page are stemmed as English.
func stem(word, lang string) string {
	return cutWord(fold(stemIn(word, stemLanguage(word, lang))))
}

// stemLanguage returns the language whose stemmer is used for a word; "": none.
func stemLanguage(word, lang string) string {
	r, _ := utf8.DecodeRuneInString(word)
	switch {
	case r < utf8.RuneSelf && ('0' <= r && r <= '9'), len(word) < 3:
		return ""
	case unicode.Is(unicode.Cyrillic, r):
		if isCyrillic(lang) {
			return lang
		}
		return "ru"
	case unicode.Is(unicode.Latin, r):
		if lang == "" || isCyrillic(lang) || !isLatin(lang) {
			return "en"
		}
		return lang
	}
	return ""
}

// isCyrillic reports whether a language is written in Cyrillic. Words of those without a
// stemmer are not stemmed as Russian.
func isCyrillic(lang string) bool { return slices.Contains(cyrillic, lang) }

var cyrillic = strings.Fields("ru bg uk be sr mk kk ky mn tg")

// isLatin reports whether a language is written in Latin letters; if so, its words are not
// stemmed as English.
func isLatin(lang string) bool { return !isCyrillic(lang) && !slices.Contains(otherScripts, lang) }

var otherScripts = strings.Fields("el he ar fa ur hi bn ta te ka hy am zh ja ko th lo km my")

func stemIn(word, lang string) string {
	if lang == "bg" {
		return bulgarian(word)
	}
	f := snowball[lang]
	if f == nil {
		return word
	}
	if lang == "ro" { // Snowball expects a cedilla where pages have the comma below
		word = strings.NewReplacer("ș", "ş", "ț", "ţ").Replace(word)
	}
	env := snowballstem.NewEnv(word)
	f(env)
	if got := env.Current(); got != "" {
		return got
	}
	return word
}

var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ı", "i", "þ", "th",
	"ð", "d", "ς", "σ")

// fold removes accents, except from Cyrillic letters, where й is not и.
func fold(word string) string {
	r, _ := utf8.DecodeRuneInString(word)
	if isASCII(word) || !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Arabic, unicode.Hebrew) {
		return word
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(word) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
	}
	return letters.Replace(b.String())
}

func isASCII(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf })
}

// cutWord shortens a word, which is valid UTF-8.
func cutWord(word string) string {
	if len(word) <= maxWord {
		return word
	}
	return strings.ToValidUTF8(word[:maxWord], "")
}
