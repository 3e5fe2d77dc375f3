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

// snowball are the stemmers by language.
var snowball = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "nl": dutch.Stem, "en": english.Stem, "fi": finnish.Stem, "fr": french.Stem,
	"de": german.Stem, "hu": hungarian.Stem, "it": italian.Stem, "no": norwegian.Stem, "pt": portuguese.Stem,
	"ro": romanian.Stem, "ru": russian.Stem, "es": spanish.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

// maxWord bounds a word in the index, in octets.
const maxWord = 64

// stem is the word as it stands in the index, from one in a page of a language.
// The script of the word decides with it: Latin words in a Russian page are
// taken for English.
func stem(word, lang string) string {
	lang = stemLanguage(word, lang)
	if lang == "" && isPlainWord(word) {
		return cutWord(word)
	}
	return cutWord(fold(stemIn(word, lang)))
}

// stemLanguage is whose stemmer a word goes through; "" is none.
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

// isCyrillic lists languages whose Cyrillic words are not to be taken for
// Russian, and Russian. Those without a stemmer stay as they are.
func isCyrillic(lang string) bool { return slices.Contains(cyrillic, lang) }

var cyrillic = strings.Fields("ru bg uk be sr mk kk ky mn tg")

// isLatin says whether a language is written in Latin letters, so that its
// words are not to be taken for English.
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
	if lang == "ro" { // Snowball knows the letters with a cedilla, pages have the comma
		word = strings.NewReplacer("ș", "ş", "ț", "ţ").Replace(word)
	}
	env := snowballstem.NewEnv(word)
	f(env)
	if got := env.Current(); got != "" {
		return got
	}
	return word
}

// isPlainWord says whether fold leaves a word as it is.
func isPlainWord(word string) bool {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

var letters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ı", "i", "þ", "th",
	"ð", "d", "ς", "σ")

// fold takes accents off, but not off Cyrillic letters, where й is no и.
func fold(word string) string {
	if isPlainWord(word) {
		return word
	}
	if r, _ := utf8.DecodeRuneInString(word); !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Arabic,
		unicode.Hebrew) {
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

func cutWord(word string) string {
	if len(word) <= maxWord {
		return word
	}
	n := maxWord
	for n > 0 && !utf8.RuneStart(word[n]) {
		n--
	}
	return word[:n]
}
