package publish

import (
	"slices"
	"time"

	"curtsy/storage/crawllog"
)

// Current is the visit that stands for a URL (crawllog.StandingOf), or where none
// does the best that there is; nil if there is none. It is what is published of
// the URL, everywhere. The visits are those of one URL, the oldest first; find
// looks up where redirects lead.
func Current(visits []*crawllog.Visit, find crawllog.Lookup) (best *crawllog.Visit) {
	var rank crawllog.Rank
	for _, v := range slices.Backward(visits) {
		s := crawllog.StandingOf(v, find)
		if s.Stands() {
			return v
		}
		if best == nil || s.Rank > rank {
			best, rank = v, s.Rank
		}
	}
	return best
}

// CurrentAt is the visit that stood for a URL at a time, nil if there was none.
func CurrentAt(visits []*crawllog.Visit, at time.Time, find crawllog.Lookup) *crawllog.Visit {
	return Current(Until(visits, at), LookupAt(find, at))
}

// LookupAt is find without the visits that came later than a time.
func LookupAt(find crawllog.Lookup, at time.Time) crawllog.Lookup {
	if find == nil {
		return nil
	}
	return func(url string) []*crawllog.Visit { return Until(find(url), at) }
}

// Until are the visits, the oldest first, up to a time.
func Until(visits []*crawllog.Visit, at time.Time) []*crawllog.Visit {
	for i, v := range visits {
		if v.At.After(at) {
			return visits[:i]
		}
	}
	return visits
}

// GoneSince says since when a page is gone: it was answered with 410, or twice
// in a row with 404, and never well since. Other failures say nothing. The visits
// are those of one URL, the oldest first.
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
		case Answers(v, find):
			missing, gone = 0, false
		}
	}
	return since, gone
}

// Answers says whether a visit brought the page, if perhaps not all of it, or that
// it is unchanged, or where it is now: what it asks for binds earlier captures too.
func Answers(v *crawllog.Visit, find crawllog.Lookup) bool {
	s := crawllog.StandingOf(v, find)
	return s.Stands() || v.Unchanged() || s.Rank >= crawllog.Partial && !v.Redirects()
}
