package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// commonWords are common words of languages. They are used for pages that declare no language, or
// one that contradicts their script.
var commonWords = map[string]string{
	"en": "the of and to in is for that with are this be on as by or it from an not",
	"de": "der die und das ist nicht mit den von zu ein eine im für auf dem wird sich auch als",
	"fr": "le la les des et est une dans pour que du en un sur par qui au pas avec sont",
	"es": "el los las que del y una para con por es se la de en un como al su más",
	"it": "il di che e la per una con della è un del in non si le dei sono da gli",
	"pt": "os que não uma para com do da em e o um é no na por se mais como ao",
	"nl": "het een van en de niet met voor dat is op te zijn aan worden ook als bij naar",
	"sv": "och att det som en är för på inte av den med till ett kan har de om från eller",
	"no": "og det er på som en for ikke til av med kan den et fra har om eller ved å",
	"da": "og det er på som en for ikke til af med kan den et fra har om eller ved at",
	"fi": "ja on ei se että oli joka ovat voi kun tai mutta myös jos sen tämä niin kuin ole",
	"hu": "a az és hogy nem egy is van ez meg csak ha de vagy mint el már amely ki lehet",
	"ro": "și de la în cu care nu este pe un o să din pentru mai sau ca fi sunt prin",
	"tr": "ve bir bu için ile de da olarak olan daha gibi çok en kadar sonra ya değil her ne veya",
	"ru": "и в не на что с по как для это из к от или при он а но вы если",
	"bg": "и на да се от за не са със което в по е с до или при като може това",
	"uk": "і в на не що з до та як це для у або від за при є й також він",
}

// common maps common words to their languages.
var common = func() map[string][]string {
	m := map[string][]string{}
	for lang, words := range commonWords {
		for w := range strings.FieldsSeq(words) {
			m[w] = append(m[w], lang)
		}
	}
	return m
}()

// fewestCommon is the share of words that must be common words.
const fewestCommon = 0.04

// maxSample is the most words examined to detect a language.
const maxSample = 300

// languageOf detects the language of a text; "" if it is in doubt. It trusts the declared
// language if the script fits, then looks for letters that only one language has, then for
// common words.
func languageOf(declared string, words []string) string {
	words = words[:min(len(words), maxSample)]
	declared = baseLanguage(declared)
	n, cyrillic, other := 0, 0, 0
	for _, w := range words {
		switch r, _ := utf8.DecodeRuneInString(w); {
		case 'a' <= r && r <= 'z':
			n++
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
			n++
		case unicode.Is(unicode.Latin, r):
			n++
		case unicode.IsLetter(r):
			other++
			n++
		}
	}
	mostlyCyrillic := 2*cyrillic > n
	switch {
	case declared != "" && (n == 0 || fits(declared, n, cyrillic, other)):
		return declared
	case 2*other > n:
		return ""
	case mostlyCyrillic:
		if lang := byLetters(words); lang != "" {
			return lang
		}
	}
	return byCommonWords(words, n, mostlyCyrillic)
}

// fits reports whether a text of n words, with some in Cyrillic and some in other scripts, may
// be in a language. Texts of every language may have names and code in Latin letters.
func fits(lang string, n, cyrillic, other int) bool {
	switch {
	case lang == "sr" || lang == "kk": // written in two scripts
		return true
	case isCyrillic(lang):
		return 10*cyrillic > n
	case !isLatin(lang):
		return 10*other > n
	}
	return 2*cyrillic <= n && 2*other <= n
}

// baseLanguage returns "de" for "de-AT", and "no" for all names of Norwegian.
func baseLanguage(tag string) string {
	tag = strings.ToLower(strings.TrimSpace(tag))
	if i := strings.IndexAny(tag, "-_;, "); i >= 0 {
		tag = tag[:i]
	}
	switch {
	case tag == "nb" || tag == "nn":
		return "no"
	case len(tag) < 2 || len(tag) > 3 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") != "":
		return ""
	}
	return tag
}

// byLetters distinguishes Cyrillic languages by letters that the others lack.
func byLetters(words []string) string {
	russian, ukrainian := 0, 0
	for _, w := range words {
		switch {
		case strings.ContainsAny(w, "ыэ"):
			russian++
		case strings.ContainsAny(w, "іїєґ"):
			ukrainian++
		}
	}
	switch {
	case russian > ukrainian:
		return "ru"
	case ukrainian > 0:
		return "uk"
	}
	return ""
}

// byCommonWords detects a language if the text has enough different common words of it, and
// clearly more than of any other.
func byCommonWords(words []string, n int, cyrillic bool) string {
	_, best, most, second := commonest(words, cyrillic)
	if float64(most) <= fewestCommon*float64(n) || float64(second) > 0.9*float64(most) {
		return ""
	}
	return best
}

// commonest counts the common words of each language, and returns the best language, its count
// and that of the second; best is "" if there are too few different words.
func commonest(words []string, cyrillic bool) (counts map[string]int, best string, most, second int) {
	counts, kinds, seen := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, w := range words {
		langs := common[w]
		for _, lang := range langs {
			counts[lang]++
			if !seen[w] {
				kinds[lang]++
			}
		}
		if langs != nil {
			seen[w] = true
		}
	}
	for lang, c := range counts {
		switch {
		case isCyrillic(lang) != cyrillic:
		case c > most || c == most && lang < best:
			second, best, most = most, lang, c
		case c > second:
			second = c
		}
	}
	if kinds[best] < fewestKinds {
		return counts, "", 0, 0
	}
	return counts, best, most, second
}

// fewestKinds is the least number of different common words in a text.
const fewestKinds = 4

// CommonLanguages returns the languages in Latin script whose common words occur at the
// beginning of a text: the best, and those with at least 0.65 of its count. lead is its lead
// over the second, from 0 to 1; words is the number of words examined.
func CommonLanguages(text string) (langs []string, lead float64, words int) {
	const most, near = 4 << 10, 0.65 // Catalan has many common words of Spanish
	var list []string
	latin := 0
	t := tokenizer{forms: map[string]*form{}}
	t.each(text[:min(len(text), most)], func(w token) {
		if len(list) == maxSample {
			return
		}
		list = append(list, w.word)
		if r, _ := utf8.DecodeRuneInString(w.word); unicode.Is(unicode.Latin, r) {
			latin++
		}
	})
	counts, best, n, second := commonest(list, false)
	if best == "" || 2*latin <= len(list) || float64(n) <= fewestCommon*float64(latin) {
		return nil, 0, len(list)
	}
	langs = []string{best}
	for lang, c := range counts {
		if lang != best && !isCyrillic(lang) && float64(c) > near*float64(n) {
			langs = append(langs, lang)
		}
	}
	return langs, 1 - float64(second)/float64(n), len(list)
}

// HasCommonWords reports whether CommonLanguages can detect a language.
func HasCommonWords(lang string) bool {
	_, ok := commonWords[lang]
	return ok
}
