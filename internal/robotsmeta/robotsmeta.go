// Package robotsmeta defines the restrictive directives of meta robots and X-Robots-Tag. To add
// one, add a field and a row here, and its effect in publish/permit.go.
package robotsmeta

import (
	"iter"
	"time"
)

// Directives are the directives of a document. The zero value restricts nothing.
type Directives struct {
	NoIndex          bool       `json:"noindex,omitempty"`
	NoFollow         bool       `json:"nofollow,omitempty"`
	NoArchive        bool       `json:"noarchive,omitempty"`
	NoImageIndex     bool       `json:"noimageindex,omitempty"`
	NoTranslate      bool       `json:"notranslate,omitempty"`
	MaxSnippet       *int       `json:"max_snippet,omitempty"`       // characters; 0: no snippet; nil: no limit
	UnavailableAfter *time.Time `json:"unavailable_after,omitempty"` // the earliest one; nil: never
	Sources          []Source   `json:"sources,omitempty"`           // the directives that apply, with their origin
}

// Source is a directive as found.
type Source struct {
	Directive string `json:"directive"` // "noindex", "max-snippet:20"
	From      string `json:"from"`      // "X-Robots-Tag", "Robots-Tag" or "meta"
	Agent     string `json:"-"`         // the agent addressed; "": everybody
	Text      string `json:"text"`      // verbatim
}

// words are the directives without a value. Archives store them in this order, so new ones must
// be appended.
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

// synonyms map words to the directives that they stand for.
var synonyms = map[string][]string{"none": {"noindex", "nofollow"}, "nocache": {"noarchive"}}

// Words yields each directive with its flag in d, in the stored order.
func (d *Directives) Words() iter.Seq2[string, *bool] {
	return func(yield func(string, *bool) bool) {
		for _, w := range words {
			if !yield(w.name, w.flag(d)) {
				return
			}
		}
	}
}

// Forbid applies a lower-case word, and reports whether it is known.
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

// Join adds the restrictions of another reading of the document.
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

// LimitSnippet limits the characters of a snippet; the smallest limit applies.
func (d *Directives) LimitSnippet(n int) {
	if d.MaxSnippet == nil || n < *d.MaxSnippet {
		d.MaxSnippet = &n
	}
}

// EndAt applies an unavailable_after time; the earliest applies.
func (d *Directives) EndAt(t time.Time) {
	if d.UnavailableAfter == nil || t.Before(*d.UnavailableAfter) {
		d.UnavailableAfter = &t
	}
}
