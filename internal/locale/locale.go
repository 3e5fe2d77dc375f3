// Package locale translates the texts of pages into the reader's language. All texts are in one
// catalogue, keyed by the English text.
package locale

import (
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

//go:embed catalogue.txt
var texts string

// Tags are the available languages, English first.
var Tags = []language.Tag{language.English, language.Bulgarian, language.Russian}

// Entry is a text, by language tag. Key is the English text, unless there is an "en".
type Entry struct {
	Key string
	In  map[string]string
}

// Entries parses the catalogue: blocks of lines with the key first, then "bg: …" and "ru: …",
// and "en: …" if the key is not the text.
func Entries() (list []Entry, err error) {
	for block := range strings.SplitSeq(strings.TrimSpace(texts), "\n\n") {
		lines := strings.Split(block, "\n")
		e := Entry{Key: lines[0], In: map[string]string{"en": lines[0]}}
		for _, line := range lines[1:] {
			tag, text, ok := strings.Cut(line, ": ")
			if !ok {
				return nil, fmt.Errorf("the catalogue: %q is not of the form \"bg: text\"", line)
			}
			e.In[tag] = text
		}
		list = append(list, e)
	}
	return list, nil
}

// Printer formats texts of the catalogue in one language.
type Printer struct{ *message.Printer }

// Word translates a text that may be in the catalogue: a state, the name of a format, the
// output of a command.
func (p Printer) Word(text string) string {
	if strings.Contains(text, "%") {
		return text
	}
	return p.Sprintf(message.Key(text, text))
}

// Size formats a number of octets.
func (p Printer) Size(n int64) string {
	if n < 1000 {
		return p.Sprintf("%d bytes", n)
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB"} {
		if value /= 1000; value < 1000 {
			break
		}
	}
	return p.Sprintf("%.1f", value) + " " + p.Sprintf(unit)
}

// Printers returns the printers by language tag.
func Printers() (map[string]Printer, error) {
	entries, err := Entries()
	if err != nil {
		return nil, err
	}
	b := catalog.NewBuilder(catalog.Fallback(language.English))
	for _, e := range entries {
		for tag, text := range e.In {
			if err := b.SetString(language.Make(tag), e.Key, text); err != nil {
				return nil, err
			}
		}
	}
	printers := map[string]Printer{}
	for _, tag := range Tags {
		printers[tag.String()] = Printer{message.NewPrinter(tag, message.Catalog(b))}
	}
	return printers, nil
}

// Choose returns the best available language. A wish is a tag, or a list as in Accept-Language.
func Choose(wishes ...string) string {
	_, i := language.MatchStrings(language.NewMatcher(Tags), wishes...)
	return Tags[i].String()
}
