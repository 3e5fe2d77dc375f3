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

// CurrentAt returns the visit that was current for a URL at a time; nil if there was none.
func CurrentAt(visits []*crawllog.Visit, at time.Time, find crawllog.Lookup) *crawllog.Visit {
	return crawllog.Current(Until(visits, at), LookupAt(find, at))
}

// maxRedirects is how many redirects in a row are followed.
const maxRedirects = 20

// LedTo follows redirects from a URL and returns the current visit at their end; nil if there
// is none or there are more than maxRedirects.
func LedTo(url string, find crawllog.Lookup) *crawllog.Visit {
	for range maxRedirects {
		v := crawllog.Current(find(url), find)
		if v == nil || v.Location == "" {
			return v
		}
		url = v.Location
	}
	return nil
}

// LookupAt returns find restricted to visits no later than at.
func LookupAt(find crawllog.Lookup, at time.Time) crawllog.Lookup {
	if find == nil {
		return nil
	}
	return func(url string) []*crawllog.Visit { return Until(find(url), at) }
}

// Until returns the visits no later than at. visits are sorted, oldest first.
func Until(visits []*crawllog.Visit, at time.Time) []*crawllog.Visit {
	for i, v := range visits {
		if v.At.After(at) {
			return visits[:i]
		}
	}
	return visits
}

// GoneSince reports since when a page is gone: it answered 410, or 404 twice in a row, and
// never successfully since. Other failures do not count. visits are those of one URL, oldest
// first.
func GoneSince(visits []*crawllog.Visit, find crawllog.Lookup) (since time.Time, gone bool) {
	missing := 0
	for _, v := range visits {
		switch {
		case v.Blocked != "":
		case v.Status == 404 || v.Status == 410:
			if missing++; missing == 1 {
				since = v.At
			}
			gone = gone || missing > 1 || v.Status == 410
		case crawllog.Answers(v, find):
			missing, gone = 0, false
		}
	}
	return since, gone
}
