package publish

import (
	"slices"
	"time"

	"curtsy/storage/crawllog"
)

// Permits decides about every visit of one URL, the oldest first. What counts is
// what a visit itself asks for, and
//
//   - of an unchanged page (304), what its original asks for too;
//   - of an earlier capture, what the latest answer that is the page, or says that
//     it is unchanged, asks for too: a page that has come to ask for noarchive takes
//     back what was kept before.
//
// What is said about use is not narrowed: each capture has its own, and the one that
// stands for the URL has that of the latest such answer.
func Permits(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) []Permit {
	permits := make([]Permit, len(visits))
	at := make(map[crawllog.Ref]int, len(visits))
	latest := -1
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
	current := crawllog.Current(visits, find)
	for i, v := range visits {
		if v == current && latest > i {
			v = visits[latest]
		}
		permits[i].use(v)
	}
	return permits
}

// CurrentPermit is the visit that stands for a URL, nil if there is none, and its permit.
func CurrentPermit(visits []*crawllog.Visit, now time.Time, find crawllog.Lookup) (*crawllog.Visit, Permit) {
	v := crawllog.Current(visits, find)
	if v == nil {
		return nil, Permit{}
	}
	return v, Permits(visits, now, find)[slices.Index(visits, v)]
}

// narrow takes in the restrictions of another permit.
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
