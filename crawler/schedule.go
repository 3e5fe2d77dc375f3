package crawler

import (
	"cmp"
	"slices"
	"time"

	"curtsy/politeness"
)

// schedule decides which origin is asked next. An origin with something to ask is in one of two lanes,
// ordered by the time from which it may be asked; one that waits for a response or a commit is in none.
// Only the loop uses it.
type schedule struct {
	origins map[string]*origin
	list    []*origin        // in order of discovery
	paces   map[string]*pace // by host
	site    lane
	others  lane      // hosts outside the site, which share one pace
	limited []*origin // origins waiting for a page in flight that may reach max-pages
	turns   uint64
}

// lane is a queue of origins, ordered by due.
type lane struct {
	queue []*origin // sorted by byDue
	pace  *pace     // common to all of them; nil if there is none
}

func newSchedule(o *Options) *schedule {
	s := &schedule{origins: map[string]*origin{}, paces: map[string]*pace{}}
	// Other hosts leave one request to the site, so that slow ones do not hold it up.
	s.others.pace = newPace("", politeness.Options{Shared: politeness.NewShared(o.Pace.Delay),
		Concurrency: max(o.Pace.Concurrency-1, 1)})
	return s
}

// enqueue schedules an origin for now.
func (s *schedule) enqueue(o *origin) { s.at(o, time.Time{}, "") }

// at schedules an origin for a time; politeness.Never removes it.
func (s *schedule) at(o *origin, due time.Time, why string) {
	s.dequeue(o)
	l := &s.others
	if o.ours {
		l = &s.site
	}
	if due.Equal(politeness.Never) {
		return
	}
	s.turns++
	o.due, o.why, o.turn, o.lane = due, why, s.turns, l
	i, _ := slices.BinarySearchFunc(l.queue, o, byDue)
	l.queue = slices.Insert(l.queue, i, o)
}

// dequeue removes an origin from its lane.
func (s *schedule) dequeue(o *origin) {
	if l := o.lane; l != nil {
		i := slices.Index(l.queue, o) // not a binary search: the order may be broken after the clock was set
		l.queue = slices.Delete(l.queue, i, i+1)
		o.lane = nil
	}
}

// next removes and returns an origin that is due; nil if there is none.
func (s *schedule) next(now time.Time) *origin {
	for _, l := range []*lane{&s.site, &s.others} {
		if w, ok := l.first(now); ok && !w.until.After(now) {
			o := l.queue[0]
			s.dequeue(o)
			return o
		}
	}
	return nil
}

// earliest returns the earliest wait; ok is false if nothing is scheduled.
func (s *schedule) earliest(now time.Time) (w waiting, ok bool) {
	for _, l := range []*lane{&s.site, &s.others} {
		if v, is := l.first(now); is && (!ok || v.until.Before(w.until)) {
			w, ok = v, true
		}
	}
	return w, ok
}

// first returns the wait of the lane's first origin.
func (l *lane) first(now time.Time) (w waiting, ok bool) {
	if len(l.queue) == 0 {
		return waiting{}, false
	}
	w = waiting{l.queue[0].due, l.queue[0].why}
	if l.pace != nil {
		if p := l.pace.Next(now); p.At.After(w.until) {
			w = waiting{p.At, "other hosts than the site's: " + p.Why}
		}
	}
	return w, true
}

// waiting is a time, and what happens then.
type waiting struct {
	until time.Time // politeness.Never: until a request has ended
	why   string
}

// byDue orders origins by due, and equal ones by turn.
func byDue(a, b *origin) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.turn, b.turn)) }
