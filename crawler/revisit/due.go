// Package revisit decides when a page is to be visited again, and whether a new response is the page.
package revisit

import (
	"fmt"
	"math"
	"slices"
	"time"

	"curtsy/storage/crawllog"
)

// Bounds of the interval between two visits, and the interval of a page visited only once.
const (
	Shortest = 24 * time.Hour
	Longest  = 90 * 24 * time.Hour
	Unknown  = 7 * 24 * time.Hour
)

// Plan is when a page is due, and why.
type Plan struct {
	At      time.Time
	Why     string // in words
	Changes int    // compared responses that differed from the one before
	Seen    int    // responses compared
}

// Always reports that the page differed at each of at least three visits. A round spends only a part on
// such pages.
func (p Plan) Always() bool { return p.Seen >= 3 && p.Changes == p.Seen }

// Due plans the next visit of a URL from its visits, oldest first, and the last change that a sitemap
// states (zero: none). The rate of change is estimated as by Cho and Garcia-Molina (Estimating
// Frequency of Change, 2003), which needs no equal intervals and does not assume that a page seen
// twice without a change never changes.
func Due(visits []*crawllog.Visit, lastMod time.Time) Plan {
	last := lastAnswer(visits)
	if last == nil {
		return Plan{Why: "there is no complete answer yet"}
	}
	if unconfirmed(visits) {
		return Plan{At: last.At, Why: "the last response does not look like the page: it is fetched once more"}
	}
	seen, changes, span := compared(visits)
	p := Plan{Changes: changes, Seen: seen}
	wait := Unknown
	if p.Why = "visited once; the first interval is a week"; seen > 0 {
		wait = interval(seen, changes, span/time.Duration(seen))
		p.Why = fmt.Sprintf("changed at %d of %d visits: every %s", changes, seen, days(wait))
	}
	if age := time.Duration(last.MaxAge) * time.Second; age > wait {
		wait = min(age, Longest)
		p.Why = "Cache-Control: max-age is " + days(wait)
	}
	p.At = last.At.Add(wait)
	if lastMod.After(last.At) && lastMod.Before(p.At) { // a date further ahead does not postpone the visit
		return Plan{At: lastMod, Why: "the sitemap gives a change on " + lastMod.UTC().Format("2006-01-02")}
	}
	return p
}

// unconfirmed reports whether the last response is doubtful (a first 404 included) and no later round
// has confirmed it.
func unconfirmed(visits []*crawllog.Visit) bool {
	n := len(visits)
	if n < 2 || !doubtful(visits[n-1]) || Good(visits) == nil {
		return false
	}
	for i, v := range slices.Backward(visits[:n-1]) {
		if !doubtful(v) {
			return true
		}
		if v.Round != visits[n-1].Round || v.Round == 0 && i > 0 { // older versions do not record the round
			return false
		}
	}
	return false
}

func doubtful(v *crawllog.Visit) bool { return !brought(v) && v.Status != 410 }

// brought reports whether the visit returned the page, confirmed it unchanged or redirected.
func brought(v *crawllog.Visit) bool {
	s := crawllog.StandingOf(v, nil)
	return s.Rank >= crawllog.Limited || v.Unchanged() || v.Redirects() && s.Rank == crawllog.Partial
}

// interval returns 1/λ within its bounds, λ = -ln((n-X+0.5)/(n+0.5))/I.
func interval(seen, changes int, mean time.Duration) time.Duration {
	n, x := float64(seen), float64(changes)
	rate := -math.Log((n - x + 0.5) / (n + 0.5)) // per mean interval
	if rate <= 0 {
		return Longest
	}
	return time.Duration(min(max(float64(mean)/rate, float64(Shortest)), float64(Longest)))
}

// compared counts the responses that can be compared with the one before, those that differed, and the
// time between the first and the last.
func compared(visits []*crawllog.Visit) (seen, changes int, span time.Duration) {
	var before *crawllog.Visit
	for _, v := range visits {
		if !answered(v) {
			continue
		}
		if before != nil {
			seen++
			span += v.At.Sub(before.At)
			if v.Status != 304 && (v.Digest != before.Digest || v.Location != before.Location) {
				changes++
			}
		}
		before = v
	}
	return seen, changes, span
}

func lastAnswer(visits []*crawllog.Visit) *crawllog.Visit {
	for _, v := range slices.Backward(visits) {
		if answered(v) {
			return v
		}
	}
	return nil
}

// answered reports whether the visit shows the state of the page.
func answered(v *crawllog.Visit) bool {
	return brought(v) || v.Status >= 400 && crawllog.StandingOf(v, nil).Rank == crawllog.Without
}

func days(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
