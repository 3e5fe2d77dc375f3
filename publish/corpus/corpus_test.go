package corpus_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"curtsy/publish/corpus"
)

func TestLanguage(t *testing.T) {
	for text, want := range map[string]string{
		"The quick brown fox jumps over the lazy dog, and then it sleeps for the rest of the day.": "eng",
		"Настройки сохраняются в файле, который находится в домашнем каталоге пользователя системы, если он не указал другой каталог":               "rus",
		"Die Einstellungen werden in einer Datei gespeichert, die im Verzeichnis des Benutzers liegt und nicht hier":                                "deu",
		"Ustawienia są zapisywane w pliku, który znajduje się w katalogu domowym użytkownika, jeżeli nie wskazał on innego katalogu w konfiguracji": "pol",
		"設定はファイルに保存されます。このファイルは利用者のホームディレクトリにあります。別のディレクトリを指定することもできます。":                                                                            "jpn",
		"x": "",
		// Too little text, or not a language.
		"Home Contact Imprint Login": "",
		"Next: libpq":                "",
		"3.14 2.71 1.41 1.73 2.23 2.44 2.64 2.82 3.16 3.31 3.46 3.60 3.74": "",
		"Chapter 71. BRIN Indexes Table of Contents 71.1. Introduction 71.1.1. Index Maintenance 71.2. Built-in Operator Classes 71.2.1. Parameters 71.3. Extensibility Prev Up Part VII. Internals Home Next": "",
		// Danish or Norwegian: ambiguous.
		"Indstillingerne gemmes i en fil, der ligger i brugerens mappe, og de kan ændres af den, som har adgang til filen, for ikke at miste noget, efter at programmet er lukket.": "",
		strings.Repeat("xk2 qz7 wvx 0x1f ffff zzq ", 8): "",
	} {
		got, score := corpus.Language(text)
		if got != want || score < 0 || score > 1 || (want == "") != (score == 0) {
			t.Errorf("%.30s: %s at %.2f, want %s", text, got, score, want)
		}
	}
}

func TestBoilerplate(t *testing.T) {
	b := corpus.NewBlocks()
	for i := range 200 {
		page := []string{"Imprint", "Imprint", fmt.Sprint("text ", i)}
		if i < 10 { // 5% is not more than 5%
			page = append(page, "rare")
		}
		b.Add(page)
	}
	if got := b.Boilerplate([]string{"Imprint", "rare", "text 7", "Imprint"}); len(got) != 1 || got[0] != "Imprint" {
		t.Errorf("got %q", got)
	}
}

// text returns n words, some of them changed.
func text(seed uint64, n, changed int) string {
	r := rand.New(rand.NewPCG(seed, 0))
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint("w", r.IntN(5000))
	}
	for i := range changed {
		list[(i+1)*n/(changed+1)] = "changed"
	}
	return strings.Join(list, " ")
}

func TestClusters(t *testing.T) {
	c := corpus.NewClusters(t.TempDir())
	defer c.Close()
	pages := []string{text(1, 400, 0), text(2, 400, 0), text(1, 400, 0), text(1, 400, 2), text(3, 400, 0),
		text(2, 400, 1), "short", "short",
		text(1, 200, 0) + text(9, 200, 0)} // half of it is from another text
	for _, p := range pages {
		if err := c.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Find(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 1, 0, 0, 4, 1, 6, 7, 8} {
		if first, size := c.Of(i); first != want || want == 0 && size != 3 {
			t.Errorf("page %d: of the cluster of %d, %d pages; want %d", i, first, size, want)
		}
	}
}
