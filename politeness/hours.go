package politeness

import (
	"cmp"
	"time"
)

// Window is a time of day at which a host is left alone, from Start up to,
// not including, End, both since midnight. It may go over midnight: End is
// less than Start then. Equal ones are no window.
type Window struct {
	Start, End time.Duration
	Location   *time.Location // nil is UTC
}

// Next is the first time from t on that is outside of the window.
func (w Window) Next(t time.Time) time.Time {
	loc := w.Location
	loc = cmp.Or(loc, time.UTC)
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

// at is a time of day by the wall clock, whatever it does that day.
func at(y int, m time.Month, day int, since time.Duration, loc *time.Location) time.Time {
	s := int(since / time.Second)
	return time.Date(y, m, day, s/3600, s/60%60, s%60, 0, loc)
}

// bothHours are those that are within two.
type bothHours [2]Hours

// Next is the first time from t on that is within both. Where they have none
// in common it is one to ask again at: nobody is let in, but not for ever.
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
