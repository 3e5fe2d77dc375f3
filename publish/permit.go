// Package publish answers: what may be shown of what is kept? Every outlet
// (mirror, replay, search, export) asks Decide and no other place.
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
	List      bool // the URL may stand in search results and published lists
	Snippet   int  // characters of its text that a search may show; NoLimit, or 0: none
	Images    bool // its images may be searched for
	Translate bool // if not, what is shown carries translate="no"
	// Usage is what the owner says about the use of the capture. Whoever gives it to a
	// model, or to those who train one or mine text, asks it; see Refuses.
	Usage usage.Preferences
	// Stated is the visit whose statements Usage adds up.
	Stated  *crawllog.Visit
	Reasons []Reason
}

// Reason is one restriction and where its author put it.
type Reason struct {
	Directive string `json:"directive"`      // "noarchive", "unavailable_after:2010-06-25"
	From      string `json:"from"`           // "X-Robots-Tag", "meta", or "" where it is not known
	Text      string `json:"text,omitempty"` // the header line or the content attribute, verbatim
}

func (r Reason) String() string {
	if r.From == "" {
		return r.Directive
	}
	return fmt.Sprintf("%s (%s: %s)", r.Directive, r.From, r.Text)
}

// Quote says whether any passage of the copy may be shown: where only so many characters
// of it may be, only a search shows them.
func (p *Permit) Quote() bool { return p.Show && p.Snippet == NoLimit }

// Why is the reasons in one line.
func (p *Permit) Why() string {
	words := make([]string, len(p.Reasons))
	for i, r := range p.Reasons {
		words[i] = r.String()
	}
	return strings.Join(words, "; ")
}

// Decide says what may be shown of the latest capture of a URL, at a time, by
// the directives of its page. It looks at nothing but its arguments.
func Decide(v *crawllog.Visit, now time.Time) Permit {
	p := decide(v, now)
	p.use(v)
	return p
}

// use takes in what is said about use. To be found by no search is as noindex.
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

// Refuses says whether the owner disallows a use.
func (p *Permit) Refuses(c usage.Category) bool { return p.Usage[c] == usage.No }

// Refusals are the statements that disallow a use, in the owner's words: each with
// where it stands and, in robots.txt, with the version that was in force.
func (p *Permit) Refusals(c usage.Category) (list []string) {
	for i, s := range p.Stated.Usage {
		if s.Category == c && s.Value == usage.No && s.For == "" {
			list = append(list, StatementText(p.Stated, i))
		}
	}
	return list
}

// StatementText is a statement of a visit about use, with the version of robots.txt
// that it stands in.
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

// decide is Decide by the directives alone.
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
	if expired(d, now) {
		p.Show, p.List = false, false
		p.because(d, "unavailable_after")
	}
	p.limit(d)
	return p
}

// expired says whether unavailable_after has come: from that moment on.
func expired(d *crawllog.Directives, now time.Time) bool {
	return d.UnavailableAfter != nil && !now.Before(*d.UnavailableAfter)
}

// limit takes in what does not hide a page but narrows its use.
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

// because notes the sources of a restriction; where none is remembered, the
// directive itself.
func (p *Permit) because(d *crawllog.Directives, names ...string) {
	before := len(p.Reasons)
	for _, s := range d.Sources {
		word, _, _ := strings.Cut(s.Directive, ":")
		for _, name := range names {
			if word == name {
				p.Reasons = append(p.Reasons, Reason{s.Directive, s.From, s.Text})
			}
		}
	}
	if len(p.Reasons) == before {
		p.Reasons = append(p.Reasons, Reason{Directive: names[0]})
	}
}
