package publish

import (
	"cmp"
	"time"

	"curtsy/storage"
)

// Standing orders the visits of one URL: the one that stands highest is what
// is published of it, everywhere.
type Standing struct {
	rank uint8
	at   time.Time
}

// StandingOf is the standing of a visit: an answer stands above a failure,
// since a server that is down for a day takes nothing back; a whole one above
// one cut off; of equals the later.
func StandingOf(v *storage.Visit) Standing {
	s := Standing{rank: 3, at: v.At}
	switch {
	case v.Status == 0:
		s.rank = 0
	case v.Status == 429 || v.Status >= 500 || v.Blocked != "":
		s.rank = 1
	case v.Truncated == "disconnect" || v.Truncated == "time":
		s.rank = 2
	}
	return s
}

// Compare is above 0 where s stands above o.
func (s Standing) Compare(o Standing) int {
	return cmp.Or(cmp.Compare(s.rank, o.rank), s.at.Compare(o.at))
}

// Rank is the standing but for its time: 3 is an answer that is whole, 2 one cut
// off, 1 an error or what stands in a page's place, 0 no answer.
func (s Standing) Rank() int { return int(s.rank) }

// Time is when the visit was.
func (s Standing) Time() time.Time { return s.at }

// Current is the visit that stands for a URL, nil if there is none.
func Current(visits []*storage.Visit) *storage.Visit {
	var best *storage.Visit
	for _, v := range visits {
		if best == nil || StandingOf(v).Compare(StandingOf(best)) >= 0 {
			best = v
		}
	}
	return best
}
