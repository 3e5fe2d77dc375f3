// Package publish decides what may be shown of what is archived. Every outlet (mirror, replay,
// search, export) asks it, by Decide, Permits or CurrentPermit, and decides nothing itself.
package publish

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// NoLimit is the Snippet of a page that sets none.
const NoLimit = -1

// Permit is what may be done with one capture.
type Permit struct {
	Show      bool // the kept copy may be shown to others
	List      bool // the URL may appear in search results and published lists
	Snippet   int  // characters of its text that a search result may show; 0: none; or NoLimit
	Images    bool // its images may be searched for
	Translate bool // if false, what is shown carries translate="no"
	// Usage holds the owner's usage preferences. Code that gives the capture to a model, or to
	// somebody who trains models or mines text, checks Refuses.
	Usage usage.Preferences
	// Stated is the visit whose statements are combined in Usage.
	Stated  *crawllog.Visit
	Reasons []Reason
}

// Reason is one restriction and where the author stated it.
type Reason struct {
	Directive string `json:"directive"`      // "noarchive", "unavailable_after:2010-06-25"
	From      string `json:"from"`           // "X-Robots-Tag", "meta", or "" if unknown
	Text      string `json:"text,omitempty"` // the header line or the content attribute, verbatim
}

func (r Reason) String() string {
	if r.From == "" {
		return r.Directive
	}
	return fmt.Sprintf("%s (%s: %s)", r.Directive, r.From, r.Text)
}

// Quote reports whether passages of any length may be shown. With a snippet limit, only search
// shows text.
func (p *Permit) Quote() bool { return p.Show && p.Snippet == NoLimit }

// Why lists the reasons on one line.
func (p *Permit) Why() string {
	words := make([]string, len(p.Reasons))
	for i, r := range p.Reasons {
		words[i] = r.String()
	}
	return strings.Join(words, "; ")
}

// Decide says what may be shown of a capture at a time, by its page's directives and usage
// preferences. It is a pure function of its arguments.
func Decide(v *crawllog.Visit, now time.Time) Permit {
	p := decide(v, now)
	p.use(v)
	return p
}

// use applies the usage preferences. search=n has the effect of noindex.
func (p *Permit) use(v *crawllog.Visit) {
	p.Usage, p.Stated = usage.Combine(v.Usage), v
	if !p.Refuses(usage.Search) {
		return
	}
	p.List = false
	for _, s := range v.Usage {
		if s.Category == usage.Search && s.Value == usage.No {
			p.Reasons = append(slices.Clip(p.Reasons), Reason{Directive: "search=n", From: s.Where(), Text: s.Text})
		}
	}
}

// Refuses reports whether the owner disallows a use.
func (p *Permit) Refuses(c usage.Category) bool { return p.Usage[c] == usage.No }

// Refusals lists the statements that disallow a use, verbatim, each with its source and, for
// robots.txt, the version that was in force.
func (p *Permit) Refusals(c usage.Category) (list []string) {
	for i, s := range p.Stated.Usage {
		if s.Category == c && s.Value == usage.No && s.For == "" {
			list = append(list, StatementText(p.Stated, i))
		}
	}
	return list
}

// StatementText formats the i-th usage statement of a visit, with the version of robots.txt
// that holds it.
func StatementText(v *crawllog.Visit, i int) string {
	s := v.Usage[i]
	if s.Line > 0 && v.Robots != nil {
		s.Source, s.Line = fmt.Sprintf("%s, version %s", s.Where(), v.Robots.Version), 0
	}
	if usage.Superseded(v.Usage, i) {
		return s.String() + ", superseded"
	}
	return s.String()
}

// decide is Decide without usage preferences.
func decide(v *crawllog.Visit, now time.Time) Permit {
	p := Permit{Show: true, List: true, Snippet: NoLimit, Images: true, Translate: true}
	d := v.Directives
	if d == nil {
		d = &crawllog.Directives{}
	}
	if d.NoIndex {
		p.List = false
		p.because(d, "noindex", "none")
	}
	if d.NoArchive || v.Kept == crawllog.KeptWithheld {
		p.Show = false
		p.because(d, "noarchive", "nocache")
	}
	if v.Blocked != "" {
		p.Show, p.List = false, false
		p.Reasons = append(p.Reasons, Reason{Directive: "blocked: " + v.Blocked})
	}
	if d.UnavailableAfter != nil && !now.Before(*d.UnavailableAfter) { // the moment itself counts
		p.Show, p.List = false, false
		p.because(d, "unavailable_after")
	}
	p.limit(d)
	return p
}

// limit applies directives that restrict the use of a page without hiding it.
func (p *Permit) limit(d *crawllog.Directives) {
	if d.MaxSnippet != nil {
		p.Snippet = max(0, *d.MaxSnippet)
		p.because(d, "nosnippet", "max-snippet")
	}
	if d.NoImageIndex {
		p.Images = false
		p.because(d, "noimageindex")
	}
	if d.NoTranslate {
		p.Translate = false
		p.because(d, "notranslate")
	}
}

// because records the sources of a restriction, or the name of the directive if no source is
// stored.
func (p *Permit) because(d *crawllog.Directives, names ...string) {
	before := len(p.Reasons)
	for _, s := range d.Sources {
		if word, _, _ := strings.Cut(s.Directive, ":"); slices.Contains(names, word) {
			p.Reasons = append(p.Reasons, Reason{s.Directive, s.From, s.Text})
		}
	}
	if len(p.Reasons) == before {
		p.Reasons = append(p.Reasons, Reason{Directive: names[0]})
	}
}
