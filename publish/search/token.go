package search

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// token is a word where it stands in a text.
type token struct {
	*form
	from, to int  // octets of the text
	pair     bool // two letters of a script that writes no blanks between words
	last     bool // of such a run, the last letter alone
}

// form is a word as it is remembered.
type form struct {
	key   string // in lower case
	word  string // the same, composed; not stemmed
	lang  string // of the page it was last stemmed for
	stem  string
	noted bool // the index has it with this stem
}

// tokenizer cuts texts into words, and remembers them. It is for one goroutine.
type tokenizer struct {
	turkish bool // İ and ı are the letters of i and I
	buf     []byte
	forms   map[string]*form
	recent  [1 << 12]*form // those of them that came last, by hash: most words of a text are few
}

// maxForms bounds how many words are remembered.
const maxForms = 100_000

// each gives the words of a text: runs of letters, digits and marks. All else
// parts words, full stop and underscore too, but for an apostrophe between
// Cyrillic letters. Runs of Han, kana, hangul, Thai and the like are given as
// pairs of letters, and the last letter alone, so that a search for one letter
// finds all.
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

// lowerOf are the ASCII letters and digits that words are of, in lower case; 0 for all else.
var lowerOf = func() (table [256]byte) {
	for _, c := range []byte("0123456789abcdefghijklmnopqrstuvwxyz") {
		table[c], table[bytes.ToUpper([]byte{c})[0]] = c, c
	}
	return table
}()

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || unicode.Is(unicode.No, r)
}

// isUnspaced says whether a script writes no blanks between words. Hangul does,
// but what it puts between them are whole phrases.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー')
}

// run gives the word that begins at from, and where it ends.
func (t *tokenizer) run(text string, from int, give func(token)) int {
	t.buf = t.buf[:0]
	i, plain := from, true
	cyrillic := false
	for i < len(text) {
		c := text[i]
		if low := lowerOf[c]; low != 0 && !t.turkish {
			t.buf = append(t.buf, low)
			i++
			continue
		}
		if c < utf8.RuneSelf {
			if c == '\'' && cyrillic && apostrophe(text[i+1:]) {
				t.buf, plain = append(t.buf, "ʼ"...), false
				i++
				continue
			}
			if lowerOf[c] == 0 {
				break
			}
			if c == 'I' { // Turkish
				t.buf, plain = append(t.buf, "ı"...), false
			} else {
				t.buf = append(t.buf, lowerOf[c])
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if (r == '’' || r == 'ʼ') && cyrillic && apostrophe(text[i+n:]) {
			r = 'ʼ'
		} else if !isWordRune(r) || isUnspaced(r) {
			break
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

// apostrophe says whether what follows one is a Cyrillic letter.
func apostrophe(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.Is(unicode.Cyrillic, r)
}

// lower is a letter in lower case as words are compared.
func lower(r rune) rune {
	switch r {
	case 'ё', 'Ё':
		return 'е'
	case 'İ':
		return 'i'
	}
	return unicode.ToLower(r)
}

// word is what buf holds, composed.
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

// in is the word as it stands in the index, from a page of a language.
func (f *form) in(lang string) string {
	if f.stem == "" || f.lang != lang {
		f.lang, f.stem, f.noted = lang, stem(f.word, lang), false
	}
	return f.stem
}

// composed is a word in the form of compatibility (NFKC), where a ligature is its
// letters. Of Cyrillic words the marks of stress come off.
func composed(w string) string {
	r, _ := utf8.DecodeRuneInString(w)
	cyrillic := unicode.Is(unicode.Cyrillic, r)
	return strings.Map(func(r rune) rune {
		switch r = lower(r); {
		case cyrillic && (r == 0x0300 || r == 0x0301), !isWordRune(r):
			return -1 // a letter may be made of words and the blanks between them
		}
		return r
	}, norm.NFKC.String(w))
}

// pairs gives the letters of a run two by two.
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
