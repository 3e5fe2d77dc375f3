package crawler

import (
	"cmp"
	"slices"
	"time"

	"curtsy/politeness"
)

// schedule says which origin may be asked next. Each origin with something to
// ask waits in one of two lanes, ordered by the time from which on it may be
// asked; one that waits for an answer or a commit is in none until that comes.
// It is the loop's own.
type schedule struct {
	origins map[string]*origin
	list    []*origin        // in the order of discovery
	paces   map[string]*pace // by host
	site    lane
	others  lane      // all that is not the site's: one pace for all of it
	limited []*origin // wait for a page on its way, which may reach max-pages
	turns   uint64
}

// lane is a queue of origins by the time from which on each may be asked.
type lane struct {
	queue []*origin // ordered
	pace  *pace     // of all of them together; nil if there is none
}

func newSchedule(o *Options) *schedule {
	s := &schedule{origins: map[string]*origin{}, paces: map[string]*pace{}}
	// They never take the last place: a slow one would hold up the site.
	s.others.pace = newPace("", politeness.Options{Shared: politeness.NewShared(o.Pace.Delay),
		Concurrency: max(o.Pace.Concurrency-1, 1)})
	return s
}

// enqueue queues an origin to be looked at now.
func (s *schedule) enqueue(o *origin) { s.at(o, time.Time{}, "") }

// at queues an origin to be looked at from a time on.
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

// dequeue takes an origin out of its lane.
func (s *schedule) dequeue(o *origin) {
	if l := o.lane; l != nil {
		i := slices.Index(l.queue, o) // and not by its time: a clock that is set may have changed the order
		l.queue = slices.Delete(l.queue, i, i+1)
		o.lane = nil
	}
}

// next takes an origin out whose time has come; nil if there is none.
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

// earliest is what is waited for; !ok if nothing is.
func (s *schedule) earliest(now time.Time) (w waiting, ok bool) {
	for _, l := range []*lane{&s.site, &s.others} {
		if v, is := l.first(now); is && (!ok || v.until.Before(w.until)) {
			w, ok = v, true
		}
	}
	return w, ok
}

// first is the wait of the lane's first origin.
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

// waiting is a time and what happens then.
type waiting struct {
	until time.Time // politeness.Never: when a request has ended
	why   string
}

// byDue orders origins by when each is due; among equals it is first come, first
// served.
func byDue(a, b *origin) int { return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.turn, b.turn)) }
