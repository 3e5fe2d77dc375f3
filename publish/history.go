package publish

import (
	"slices"
	"time"

	"curtsy/storage/crawllog"
)

// Permits decides about every visit of one URL, oldest first. Each visit's own directives
// apply, and in addition
//
//   - to an unchanged page (304): those of the capture that it refers to;
//   - to an earlier capture: those of the latest answer that is the page or says that it is
//     unchanged, so that a later noarchive also withdraws earlier captures.
//
// Usage preferences are not combined this way: each capture keeps its own, except that the
// current capture has those of the latest such answer.
func Permits(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) []Permit {
	permits, latest := directives(visits, now, find)
	current := crawllog.Current(visits, find)
	for i, v := range visits {
		if v == current && latest > i {
			v = visits[latest]
		}
		permits[i].use(v)
	}
	return permits
}

// Answer is a visit that is the page or says that it is unchanged: when it was, and what its
// directives permit.
type Answer struct {
	At     time.Time
	permit Permit
}

// Latest returns the latest answer of a URL; zero if there is none. Permits has applied it to
// visits. A program that reads several archives applies it to the captures of the others too.
func Latest(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) Answer {
	permits, latest := directives(visits, now, find)
	if latest < 0 {
		return Answer{}
	}
	return Answer{visits[latest].At, permits[latest]}
}

// Withdraw adds the restrictions of the answer to the permit of a capture, if the capture is
// earlier.
func (a *Answer) Withdraw(captured time.Time, permit *Permit) {
	if captured.Before(a.At) {
		permit.narrow(&a.permit)
	}
}

// directives is Permits without usage preferences. latest is the index of the latest answer, or -1.
func directives(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) (permits []Permit, latest int) {
	permits = make([]Permit, len(visits))
	at := make(map[crawllog.Ref]int, len(visits))
	latest = -1
	for i, v := range visits {
		permits[i] = decide(v, now)
		if crawllog.Answers(v, find) {
			latest = i
		}
		at[v.Ref()] = i
		if !v.Unchanged() {
			continue
		}
		if j, ok := at[*v.Refers]; ok && j < i {
			permits[i].narrow(&permits[j])
		}
	}
	for i := range permits[:max(latest, 0)] {
		permits[i].narrow(&permits[latest])
	}
	return permits, latest
}

// CurrentPermit returns the current visit of a URL and its permit; nil if there is none.
func CurrentPermit(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) (*crawllog.Visit, Permit) {
	v := crawllog.Current(visits, find)
	if v == nil {
		return nil, Permit{}
	}
	return v, Permits(visits, now, find)[slices.Index(visits, v)]
}

// narrow adds the restrictions of another permit.
func (p *Permit) narrow(o *Permit) {
	p.Show, p.List = p.Show && o.Show, p.List && o.List
	p.Images, p.Translate = p.Images && o.Images, p.Translate && o.Translate
	if o.Snippet != NoLimit && (p.Snippet == NoLimit || o.Snippet < p.Snippet) {
		p.Snippet = o.Snippet
	}
	for _, r := range o.Reasons {
		if !slices.Contains(p.Reasons, r) {
			p.Reasons = append(slices.Clip(p.Reasons), r)
		}
	}
}
