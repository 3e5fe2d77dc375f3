// Package revisit answers: when is a page to be visited again, and is what comes
// then the page? It looks at nothing but its arguments.
package revisit

import (
	"fmt"
	"math"
	"slices"
	"time"

	"curtsy/storage/crawllog"
)

// Bounds of the interval between two visits, and what it is before anything is
// known of a page.
const (
	Shortest = 24 * time.Hour
	Longest  = 90 * 24 * time.Hour
	Unknown  = 7 * 24 * time.Hour
)

// Plan is when a page is due, and what decided.
type Plan struct {
	At      time.Time
	Why     string // in words
	Changes int    // of the answers that were compared, how many differed
	Seen    int    // answers that were compared
}

// Always says that the page has differed at each of at least three visits: a
// round should not spend itself on such pages.
func (p Plan) Always() bool { return p.Seen >= 3 && p.Changes == p.Seen }

// Due plans the next visit of a URL from those made, the oldest first, and from
// what a sitemap says of its last change (zero: nothing). The rate of change is
// estimated as Cho and Garcia-Molina do (Estimating Frequency of Change, 2003),
// which neither needs equal intervals nor takes a page seen twice for one that
// never changes.
func Due(visits []*crawllog.Visit, lastMod time.Time) Plan {
	last := lastAnswer(visits)
	if last == nil {
		return Plan{Why: "never answered"}
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
	if lastMod.After(last.At) && lastMod.Before(p.At) { // one that lies further ahead puts nothing off
		return Plan{At: lastMod, Why: "the sitemap gives a change on " + lastMod.UTC().Format("2006-01-02")}
	}
	return p
}

// unconfirmed says that what came last is not taken for the page, a first 404 among
// it, and that no later round has asked once more.
func unconfirmed(visits []*crawllog.Visit) bool {
	n := len(visits)
	if n < 2 || !doubtful(visits[n-1]) || Good(visits) == nil {
		return false
	}
	for i, v := range slices.Backward(visits[:n-1]) {
		if !doubtful(v) {
			return true
		}
		if v.Round != visits[n-1].Round || v.Round == 0 && i > 0 { // an earlier curtsy notes no round
			return false
		}
	}
	return false
}

func doubtful(v *crawllog.Visit) bool { return !brought(v) && v.Status != 410 }

// brought says that the visit brought the page, or that it is unchanged, or where
// it is now.
func brought(v *crawllog.Visit) bool {
	s := crawllog.StandingOf(v, nil)
	return s.Rank >= crawllog.Limited || v.Unchanged() || v.Redirects() && s.Rank == crawllog.Partial
}

// interval is 1/λ within its bounds, λ = -ln((n-X+0.5)/(n+0.5))/I.
func interval(seen, changes int, mean time.Duration) time.Duration {
	n, x := float64(seen), float64(changes)
	rate := -math.Log((n - x + 0.5) / (n + 0.5)) // per mean interval
	if rate <= 0 {
		return Longest
	}
	return time.Duration(min(max(float64(mean)/rate, float64(Shortest)), float64(Longest)))
}

// compared counts the answers that can be compared with the one before, those
// that differed, and the time that they span.
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

// answered says that the visit tells what the page is.
func answered(v *crawllog.Visit) bool {
	return brought(v) || v.Status >= 400 && crawllog.StandingOf(v, nil).Rank == crawllog.Without
}

func days(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
