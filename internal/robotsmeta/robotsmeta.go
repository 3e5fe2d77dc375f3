// Package robotsmeta names the words of meta robots and X-Robots-Tag that forbid something.
// Another word is a field and a row here; what it forbids, publish/permit.go says.
package robotsmeta

import (
	"iter"
	"time"
)

// Directives are what a document or its header asks. The zero value asks nothing.
type Directives struct {
	NoIndex          bool       `json:"noindex,omitempty"`
	NoFollow         bool       `json:"nofollow,omitempty"`
	NoArchive        bool       `json:"noarchive,omitempty"`
	NoImageIndex     bool       `json:"noimageindex,omitempty"`
	NoTranslate      bool       `json:"notranslate,omitempty"`
	MaxSnippet       *int       `json:"max_snippet,omitempty"`       // characters; 0: no snippet; absent: no limit
	UnavailableAfter *time.Time `json:"unavailable_after,omitempty"` // the earliest such time; absent: never
	Sources          []Source   `json:"sources,omitempty"`           // where each that counts was found
}

// Source is one directive as it was found.
type Source struct {
	Directive string `json:"directive"` // "noindex", "max-snippet:20"
	From      string `json:"from"`      // "X-Robots-Tag", "Robots-Tag" or "meta"
	Agent     string `json:"-"`         // whom it names; "" is everybody
	Text      string `json:"text"`      // as written
}

// words are those without a value. Archives keep what they forbid in this order: a new one
// goes behind the others.
var words = [...]struct {
	name string
	flag func(*Directives) *bool
}{
	{"noindex", func(d *Directives) *bool { return &d.NoIndex }},
	{"nofollow", func(d *Directives) *bool { return &d.NoFollow }},
	{"noarchive", func(d *Directives) *bool { return &d.NoArchive }},
	{"noimageindex", func(d *Directives) *bool { return &d.NoImageIndex }},
	{"notranslate", func(d *Directives) *bool { return &d.NoTranslate }},
}

// synonyms are words that stand for others.
var synonyms = map[string][]string{"none": {"noindex", "nofollow"}, "nocache": {"noarchive"}}

// Words are the words with what each of them forbids in d, in their lasting order.
func (d *Directives) Words() iter.Seq2[string, *bool] {
	return func(yield func(string, *bool) bool) {
		for _, w := range words {
			if !yield(w.name, w.flag(d)) {
				return
			}
		}
	}
}

// Forbid takes in a word, in lower case, and says whether it is known.
func (d *Directives) Forbid(word string) (known bool) {
	for _, same := range synonyms[word] {
		known = d.Forbid(same) || known
	}
	for name, flag := range d.Words() {
		if name == word {
			*flag, known = true, true
		}
	}
	return known
}

// Join adds what another reading of the document forbids.
func (d *Directives) Join(o *Directives) {
	for name, flag := range o.Words() {
		if *flag {
			d.Forbid(name)
		}
	}
	if o.MaxSnippet != nil {
		d.LimitSnippet(*o.MaxSnippet)
	}
	if o.UnavailableAfter != nil {
		d.EndAt(*o.UnavailableAfter)
	}
}

// LimitSnippet takes in how many characters a snippet may have; the least counts.
func (d *Directives) LimitSnippet(n int) {
	if d.MaxSnippet == nil || n < *d.MaxSnippet {
		d.MaxSnippet = &n
	}
}

// EndAt takes in an unavailable_after time; the earliest counts.
func (d *Directives) EndAt(t time.Time) {
	if d.UnavailableAfter == nil || t.Before(*d.UnavailableAfter) {
		d.UnavailableAfter = &t
	}
}
