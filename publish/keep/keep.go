// Package keep decides which captures a pruned archive keeps. It applies retention rules to
// visits and changes nothing.
package keep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"curtsy/frontier/judge"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Rules are retention rules: a copy of a URL is kept if one of them keeps it. The zero value
// keeps the current copy only.
type Rules struct {
	Last    int             // number of latest versions to keep; copies with the same digest are one version
	Since   time.Time       // keep copies from this time on, and the one that was current then; zero: no such rule
	Periods []Period        // keep the last copy of each period
	Find    crawllog.Lookup // finds redirect targets; nil: none are found
}

// Period is a calendar period (UTC) of which the last copy is kept.
type Period struct {
	Span Span
	Most int // periods with a copy that are kept, counted from the latest; 0: all
}

// Span is the length of a period.
type Span string

// Spans of the calendar. Weeks begin on Monday (ISO 8601).
const (
	Daily   Span = "daily"
	Weekly  Span = "weekly"
	Monthly Span = "monthly"
	Yearly  Span = "yearly"
)

// Add parses a rule (last=3, monthly, daily=7) and adds it; ok is false if it is not valid.
func (r *Rules) Add(text string) (ok bool) {
	name, number, counted := strings.Cut(text, "=")
	n, err := strconv.Atoi(number)
	if counted && (err != nil || n < 1) {
		return false
	}
	if name == "last" && counted {
		r.Last = max(r.Last, n)
		return true
	}
	if !slices.Contains([]Span{Daily, Weekly, Monthly, Yearly}, Span(name)) {
		return false
	}
	r.Periods = append(r.Periods, Period{Span(name), n})
	return true
}

// Kept reports for each visit of a URL, oldest first, whether it is kept. Always kept are the
// current visit, the last one, those that determine the permit or that the page is gone, and
// every robots.txt, as evidence of what was allowed.
func (r *Rules) Kept(visits []*crawllog.Visit) []bool {
	kept := make([]bool, len(visits))
	r.needed(visits, kept)
	r.newer(visits, kept)
	r.last(visits, kept)
	for _, p := range r.Periods {
		r.keep(p, visits, kept)
	}
	return kept
}

// needed keeps what must be kept under any rules.
func (r *Rules) needed(visits []*crawllog.Visit, kept []bool) {
	if len(visits) == 0 {
		return
	}
	last := len(visits) - 1
	kept[last] = true
	kept[slices.Index(visits, crawllog.Current(visits, r.Find))] = true
	permitting := -1
	for i, v := range visits {
		if v.Class == judge.Prerequisite.String() {
			kept[i] = true
		}
		if crawllog.Answers(v, r.Find) {
			permitting = i
		}
	}
	if permitting >= 0 {
		kept[permitting] = true
	}
	since, gone := publish.GoneSince(visits, r.Find)
	for i, v := range visits {
		// The first and the last such answer together prove that the page is gone.
		if gone && (v.At.Equal(since) || i > 0 && isGone(v) && !slices.ContainsFunc(visits[i+1:], isGone)) {
			kept[i] = true
		}
	}
}

func isGone(v *crawllog.Visit) bool { return v.Status == 404 || v.Status == 410 }

// isCopy reports whether a visit holds the complete page or a redirect.
func (r *Rules) isCopy(v *crawllog.Visit) bool {
	return crawllog.StandingOf(v, r.Find).Rank >= crawllog.Limited
}

// newer keeps the copies from Since on, and the copy that was current at Since.
func (r *Rules) newer(visits []*crawllog.Visit, kept []bool) {
	if r.Since.IsZero() {
		return
	}
	for i, v := range visits {
		kept[i] = kept[i] || !v.At.Before(r.Since)
	}
	if stood := publish.CurrentAt(visits, r.Since, r.Find); stood != nil && r.isCopy(stood) {
		kept[slices.Index(visits, stood)] = true
	}
}

// last keeps the first capture of each of the latest versions.
func (r *Rules) last(visits []*crawllog.Visit, kept []bool) {
	var firsts []int
	before := -1
	for i, v := range visits {
		if !r.isCopy(v) {
			continue
		}
		if before < 0 || visits[before].Digest != v.Digest || visits[before].Location != v.Location {
			firsts = append(firsts, i)
		}
		before = i
	}
	for _, i := range firsts[max(0, len(firsts)-r.Last):] {
		kept[i] = true
	}
}

// keep keeps the last copy of each period.
func (r *Rules) keep(p Period, visits []*crawllog.Visit, kept []bool) {
	open, periods := "", 0
	for i := len(visits) - 1; i >= 0; i-- {
		if !r.isCopy(visits[i]) {
			continue
		}
		name := p.Span.of(visits[i].At.UTC())
		if name == open {
			continue
		}
		if open = name; p.Most > 0 && periods == p.Most {
			return
		}
		periods++
		kept[i] = true
	}
}

// of names the period of a time.
func (s Span) of(t time.Time) string {
	switch s {
	case Weekly:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%d-W%d", year, week)
	case Monthly:
		return t.Format("2006-01")
	case Yearly:
		return t.Format("2006")
	}
	return t.Format(time.DateOnly)
}

// Dropped returns the visits of an archive that the rules drop, and how many are kept. A visit
// whose payload a kept visit refers to is kept.
func Dropped(a *storage.Archive, r *Rules) (drop map[crawllog.Ref]bool, kept int, err error) {
	drop = map[crawllog.Ref]bool{}
	needed := map[crawllog.Ref]bool{}
	r.Find = crawllog.Remember(a.VisitsAt)
	for visits, err := range a.Histories() {
		if err != nil {
			return nil, 0, err
		}
		for i, keep := range r.Kept(visits) {
			switch v := visits[i]; {
			case !keep:
				drop[v.Ref()] = true
			case v.Refers != nil:
				needed[*v.Refers] = true
				fallthrough
			default:
				kept++
			}
		}
	}
	for ref := range needed {
		if drop[ref] {
			delete(drop, ref)
			kept++
		}
	}
	return drop, kept, nil
}
