package search

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// token is a word at its position in a text.
type token struct {
	*form
	from, to int  // octet offsets in the text
	pair     bool // two letters of a script without blanks between words
	last     bool // the single last letter of such a run
}

// form is a cached word.
type form struct {
	key   string // lower case
	word  string // normalized key; not stemmed
	lang  string // the language that stem is for
	stem  string
	noted bool // the index has the word with this stem
}

// tokenizer splits texts into words and caches them. It is not safe for concurrent use.
type tokenizer struct {
	turkish bool // İ and ı are the letters of i and I
	buf     []byte
	forms   map[string]*form
	recent  [1 << 12]*form // cache of forms by hash, since few words make up most of a text
}

// maxForms is the most words cached.
const maxForms = 100_000

// each calls give with the words of a text: runs of letters, digits and marks. Everything else
// separates words, including full stop and underscore, except an apostrophe between Cyrillic
// letters. Runs of Han, kana, hangul, Thai and similar scripts are given as overlapping pairs
// of letters, and then the last letter alone, so that searches for a single letter work.
func (t *tokenizer) each(text string, give func(token)) {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if lowerOf[c] == 0 {
				i++
				continue
			}
		} else if r, n := utf8.DecodeRuneInString(text[i:]); !isWordRune(r) {
			i += n
			continue
		} else if isUnspaced(r) {
			i = t.pairs(text, i, give)
			continue
		}
		i = t.run(text, i, give)
	}
}

// lowerOf maps ASCII letters and digits to lower case, and everything else to 0.
var lowerOf = func() (table [256]byte) {
	for _, c := range []byte("0123456789abcdefghijklmnopqrstuvwxyz") {
		table[c], table[bytes.ToUpper([]byte{c})[0]] = c, c
	}
	return table
}()

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.Is(unicode.No, r)
}

// isUnspaced reports whether a script has no blanks between words. Hangul counts too, since its
// blanks separate phrases.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー')
}

// run calls give with the word that begins at from, and returns where it ends.
func (t *tokenizer) run(text string, from int, give func(token)) int {
	t.buf = t.buf[:0]
	i, plain := from, true
	cyrillic := false
letters:
	for i < len(text) {
		switch c := text[i]; {
		case lowerOf[c] != 0 && !(t.turkish && c == 'I'):
			t.buf = append(t.buf, lowerOf[c])
			i++
			continue
		case c < utf8.RuneSelf && c != 'I' && !cyrillic:
			break letters
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case cyrillic && (r == '\'' || r == '’' || r == 'ʼ') && apostrophe(text[i+n:]):
			r = 'ʼ'
		case r == 'I': // Turkish
			r = 'ı'
		case !isWordRune(r), isUnspaced(r):
			break letters
		}
		plain = false
		cyrillic = unicode.Is(unicode.Cyrillic, r)
		t.buf = utf8.AppendRune(t.buf, lower(r))
		i += n
	}
	if f := t.word(plain); f.word != "" {
		give(token{from: from, to: i, form: f})
	}
	return i
}

// apostrophe reports whether a Cyrillic letter follows.
func apostrophe(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.Is(unicode.Cyrillic, r)
}

// lower lower-cases a letter for comparison.
func lower(r rune) rune {
	switch r {
	case 'ё', 'Ё':
		return 'е'
	case 'İ':
		return 'i'
	}
	return unicode.ToLower(r)
}

// word returns the form of the word in buf.
func (t *tokenizer) word(plain bool) *form {
	h := uint32(2166136261) // FNV-1a
	for _, c := range t.buf {
		h = (h ^ uint32(c)) * 16777619
	}
	last := &t.recent[h>>20]
	if *last != nil && (*last).key == string(t.buf) {
		return *last
	}
	if *last = t.forms[string(t.buf)]; *last != nil {
		return *last
	}
	if t.forms == nil || len(t.forms) > maxForms {
		t.forms = map[string]*form{}
	}
	key := string(t.buf)
	f := &form{key: key, word: key}
	if !plain {
		f.word = composed(key)
	}
	t.forms[key], *last = f, f
	return f
}

// in returns the indexed form of the word in a page of a language.
func (f *form) in(lang string) string {
	if f.stem == "" || f.lang != lang {
		f.lang, f.stem, f.noted = lang, stem(f.word, lang), false
	}
	return f.stem
}

// composed normalizes a word (NFKC, which decomposes ligatures), and removes stress marks from
// Cyrillic words.
func composed(w string) string {
	r, _ := utf8.DecodeRuneInString(w)
	cyrillic := unicode.Is(unicode.Cyrillic, r)
	return strings.Map(func(r rune) rune {
		switch r = lower(r); {
		case cyrillic && (r == 0x0300 || r == 0x0301), !isWordRune(r):
			return -1 // NFKC may expand a letter to words with blanks
		}
		return r
	}, norm.NFKC.String(w))
}

// pairs calls give with the letters of a run in overlapping pairs.
func (t *tokenizer) pairs(text string, from int, give func(token)) int {
	before, start := rune(0), from
	i := from
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !isUnspaced(r) && !unicode.IsMark(r) {
			break
		}
		if before != 0 {
			give(token{from: start, to: i + n, form: t.pair(before, r), pair: true})
		}
		before, start = r, i
		i += n
	}
	give(token{from: start, to: i, form: t.pair(before), pair: true, last: true})
	return i
}

func (t *tokenizer) pair(letters ...rune) *form {
	t.buf = t.buf[:0]
	for _, r := range letters {
		t.buf = utf8.AppendRune(t.buf, r)
	}
	return t.word(false)
}
