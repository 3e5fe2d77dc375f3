package publish

import (
	"cmp"
	"time"

	"curtsy/storage/crawllog"
)

// Standing orders the visits of one URL: the one that stands highest is what
// is published of it, everywhere.
type Standing struct {
	rank uint8
	at   time.Time
}

// StandingOf is the standing of a visit: a copy of the page stands above an
// answer that holds none, and that above a failure, since a server that is down
// for a day, and a page that is gone, take nothing back of what was kept; a whole
// copy above one cut off; of equals the later.
func StandingOf(v *crawllog.Visit) Standing {
	s := Standing{rank: 4, at: v.At}
	switch {
	case v.Status == 0:
		s.rank = 0
	case v.Status == 429 || v.Status >= 500 || v.Blocked != "" || v.Suspect != "":
		s.rank = 1
	case v.Status >= 400 || v.Status == 304: // gone, or unchanged since the copy it refers to
		s.rank = 2
	case v.Truncated == "disconnect" || v.Truncated == "time":
		s.rank = 3
	}
	return s
}

// Compare is above 0 where s stands above o.
func (s Standing) Compare(o Standing) int {
	return cmp.Or(cmp.Compare(s.rank, o.rank), s.at.Compare(o.at))
}

// Rank is the standing but for its time: 4 is a copy that is whole, 3 one cut
// off, 2 an answer without one, 1 an error or what stands in a page's place, 0 no
// answer.
func (s Standing) Rank() int { return int(s.rank) }

// Time is when the visit was.
func (s Standing) Time() time.Time { return s.at }

// Current is the visit that stands for a URL, nil if there is none.
func Current(visits []*crawllog.Visit) *crawllog.Visit {
	var best *crawllog.Visit
	for _, v := range visits {
		if best == nil || StandingOf(v).Compare(StandingOf(best)) >= 0 {
			best = v
		}
	}
	return best
}

// CurrentAt is the visit that stood for a URL at a time, nil if there was none.
func CurrentAt(visits []*crawllog.Visit, at time.Time) *crawllog.Visit {
	return Current(Until(visits, at))
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
// in a row with 404, and never well since. Failures of the server or of the way to
// it say nothing. The visits are those of one URL, the oldest first.
func GoneSince(visits []*crawllog.Visit) (since time.Time, gone bool) {
	missing := 0
	for _, v := range visits {
		switch {
		case StandingOf(v).rank < 2:
		case v.Status != 404 && v.Status != 410:
			missing, gone = 0, false
		default:
			if missing++; missing == 1 {
				since = v.At
			}
			gone = gone || missing > 1 || v.Status == 410
		}
	}
	return since, gone
}
