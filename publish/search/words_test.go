package search

import (
	"slices"
	"strings"
	"testing"
)

// The test vectors are those published with Lucene's implementation of the stemmer.
func TestBulgarian(t *testing.T) {
	for want, words := range map[string]string{
		"град":       "град града градът градове градовете",
		"народ":      "народ народа народът народи народите народе",
		"път":        "път пътя пътят пътища пътищата",
		"градец":     "градец градеца градецът",
		"градовц":    "градовце градовцете",
		"дяд":        "дядо дядото дядовци дядовците",
		"мъж":        "мъж мъжа мъже мъжете мъжо",
		"мъжът":      "мъжът",
		"крак":       "крак крака кракът краката",
		"брат":       "брат брата братът братя братята брате",
		"вест":       "вест вестта вести вестите",
		"дърв":       "дърво дървото дърва дървета дървата дърветата",
		"мор":        "море морето морета моретата",
		"изключени":  "изключение изключението изключенията",
		"изключн":    "изключения",
		"красив":     "красив красивия красивият красива красивата красиво красивото красиви красивите",
		"собственик": "собственик собственика собственикът собственици собствениците",
		"подлог":     "подлог подлога подлогът подлози подлозите",
		"кожух":      "кожух кожуха кожухът кожуси кожусите",
		"центр":      "център центъра центърът центрове центровете",
		"промян":     "промяна промяната промени промените",
		"песн":       "песен песента песни песните",
		"строй":      "строй строеве строевете",
		"стр":        "строя строят",
	} {
		for word := range strings.FieldsSeq(words) {
			if got := stem(word, "bg"); got != want {
				t.Errorf("%s: got %s, want %s", word, got, want)
			}
		}
	}
}

// In each language with a stemmer, the forms of a word have one stem.
func TestStem(t *testing.T) {
	for lang, words := range map[string]string{
		"en": "connection connections connected", "de": "häuser häusern", "fr": "continuer continuait continuée",
		"es": "archivo archivos", "it": "pagina pagine", "pt": "página páginas", "nl": "boeken boek",
		"sv": "flickor flickorna",
		"no": "bøker bøkene", "da": "bøger bøgerne", "fi": "talossa talosta", "hu": "házak házakat",
		"ro": "cărți cărților",
		"tr": "kitaplar kitapları", "ru": "изображение изображения изображению", "bg": "градове градът",
	} {
		list := strings.Fields(words)
		for _, w := range list[1:] {
			if stem(w, lang) != stem(list[0], lang) {
				t.Errorf("%s: %s is %s, %s is %s", lang, list[0], stem(list[0], lang), w, stem(w, lang))
			}
		}
	}
	for _, c := range []struct{ says, word, lang, want string }{
		{"Latin words in a Russian page are English", "layers", "ru", "layer"},
		{"a language without a stemmer keeps its words", "książki", "pl", "ksiazki"},
		{"accents come off behind the stemmer", "café", "fr", "caf"},
		{"ß is ss", "straße", "de", "strass"},
		{"й is no и", "май", "uk", "май"},
		{"Ukrainian is not stemmed as Russian", "зображення", "uk", "зображення"},
		{"numbers stay", "2024s", "en", "2024s"},
		{"Greek", "γλώσσας", "el", "γλωσσασ"},
	} {
		if got := stem(c.word, c.lang); got != c.want {
			t.Errorf("%s: got %q, want %q", c.says, got, c.want)
		}
	}
	if got := stem(strings.Repeat("ж", 100), "uk"); len(got) != maxWord {
		t.Errorf("a long word has %d octets", len(got))
	}
}

func tokensOf(text string) string {
	var words []string
	new(tokenizer).each(text, func(k token) {
		words = append(words, k.word)
	})
	return strings.Join(words, " ")
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ says, text, want string }{
		{"signs part words", "java.util.List, pg_dump(8); C++ 3.14", "java util list pg dump 8 c 3 14"},
		{"ё is е, й stays", "Ёлка и Май", "елка и май"},
		{"composed or not is the same", "и\u0306 й e\u0301 é", "й й é é"},
		{"stress is no letter", "за\u0301мок", "замок"},
		{"three apostrophes of Ukrainian", "м'ята м’ята мʼята", "мʼята мʼята мʼята"},
		{"but not in Latin", "don't l’eau", "don t l eau"},
		{"Han, kana and hangul are pairs, and the last letter", "日本語 한국어 x", "日本 本語 語 한국 국어 어 x"},
		{"a letter alone", "水", "水"},
		{"Thai", "ภาษา", "ภา าษ ษา า"},
		{"wide letters and ligatures", "Ｊａｖａ ﬁle", "java file"},
		{"no letters", "— … !", ""},
		{"a letter that is words", "ﷺ", "صلىاللهعليهوسلم"},
		{"broken UTF-8", "a\xff\xfeb", "a b"},
	} {
		if got := tokensOf(c.text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.says, got, c.want)
		}
	}
}

func TestLanguageOf(t *testing.T) {
	for _, c := range []struct{ says, declared, text, want string }{
		{"as declared", "de-AT", "Das ist ein Satz", "de"},
		{"three names of Norwegian", "nb-NO", "Dette er norsk", "no"},
		{"a script belies it", "en", "Это страница на русском языке, и объявлена она английской", "ru"},
		{"Russian letters", "", "Мы были здесь вчера", "ru"},
		{"Ukrainian letters", "", "Ці сторінки написані українською", "uk"},
		{"Bulgarian by its words", "", "Това е страница на български и се чете от хората, които са за това, да се намери", "bg"},
		{"English by its words", "", "This is the page that tells of the use of it and for what", "en"},
		{"too little to tell", "", "Index A B C", ""},
		{"no language of these", "", "日本語のページです", ""},
		{"nonsense is no language", "x_y!", "a b", ""},
	} {
		if got := languageOf(c.declared, strings.Fields(tokensOf(c.text))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.says, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`one two`, `[one] [two]`},
		{`"one two" three`, `[one two] [three]`},
		{`“one two” «три»`, `[one two] [три]`},
		{`"not closed`, `[not closed]`},
		{`pg_dump`, `[pg dump]`},
		{`defini*`, `[defini*]`},
		{`java.ut*`, `[java ut*]`},
		{`one -two -"three four" - five --six`, `[one] -[two] -[three four] [five] [six]`},
		{`title:One url:two -title:x TITLE:"a b"`, `title[one] url[two] -title[x] title[a b]`},
		{`site:h.example/dir one`, `site=h.example/dir [one]`},
		{`site:https://h.example/`, `site=h.example/`},
		{`http://h.example/a`, `[http h example a]`},
		{`日本語`, `[日本 本語]`},
		{`水`, `[水]`},
		{`* - " : ++`, ``},
		{``, ``},
		{"\xff\x00 a", `[a]`},
	} {
		q := parse(c.text)
		var parts []string
		for _, s := range q.sites {
			parts = append(parts, "site="+s)
		}
		for _, u := range q.units {
			var words []string
			for _, w := range u.words {
				words = append(words, w.word)
			}
			part := u.column + "[" + strings.Join(words, " ")
			if u.not {
				part = "-" + part
			}
			if u.prefix {
				part += "*"
			}
			parts = append(parts, part+"]")
		}
		if got := strings.Join(parts, " "); got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`a "b c" -d* title:е site:x`)
	f.Fuzz(func(t *testing.T, text string) {
		q := parse(text)
		for _, u := range q.units {
			if len(u.words) == 0 || slices.ContainsFunc(u.words,
				func(k token) bool { return strings.ContainsAny(k.word, "\"\x00 ") }) {
				t.Errorf("%q: %v", text, u)
			}
		}
	})
}

func FuzzTokens(f *testing.F) {
	f.Add("Привет, мир! 日本 don't")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		new(tokenizer).each(text, func(k token) {
			if k.from < at && !k.pair || k.to <= k.from || k.to > len(text) {
				t.Errorf("%q: %d to %d behind %d", text, k.from, k.to, at)
			}
			at = k.to
			for _, lang := range []string{"en", "bg", "tr", "ro", ""} {
				if len(stem(k.word, lang)) > maxWord {
					t.Errorf("%q in %s is long", k.word, lang)
				}
			}
		})
	})
}
