package politeness

import (
	"cmp"
	"time"
)

// Window is a time of day at which a host is left alone: from Start to before End, both since
// midnight. If End is less than Start, it includes midnight. If they are equal, it is empty.
type Window struct {
	Start, End time.Duration
	Location   *time.Location // nil is UTC
}

// Next returns the first time outside the window that is not before t.
func (w Window) Next(t time.Time) time.Time {
	loc := cmp.Or(w.Location, time.UTC)
	y, m, d := t.In(loc).Date()
	for day := d - 1; day <= d+1; day++ {
		from, to := at(y, m, day, w.Start, loc), at(y, m, day, w.End, loc)
		if w.End < w.Start {
			to = at(y, m, day+1, w.End, loc)
		}
		if !t.Before(from) && t.Before(to) {
			return to
		}
	}
	return t
}

// at returns a time of day by the wall clock; time.Date resolves clock changes.
func at(y int, m time.Month, day int, since time.Duration, loc *time.Location) time.Time {
	s := int(since / time.Second)
	return time.Date(y, m, day, s/3600, s/60%60, s%60, 0, loc)
}

// bothHours are the times within both Hours.
type bothHours [2]Hours

// Next returns the first time within both that is not before t. If they have none in common, it returns a
// later time at which to ask again.
func (b bothHours) Next(t time.Time) time.Time {
	for range 4 {
		next := b[1].Next(b[0].Next(t))
		if next.Equal(t) {
			break
		}
		t = next
	}
	return t
}
