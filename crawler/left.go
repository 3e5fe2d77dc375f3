package crawler

import (
	"math"
	"time"
)

// left is about how long n visits take: at the rate of late, and never less
// than the pauses between them. What is not discovered yet comes on top, what
// rules still deny or a redirect folds takes no time; over a whole crawl the two
// are about even. 0 is unknown.
func left(n int, rate float64, pause time.Duration) time.Duration {
	if rate <= 0 {
		return 0
	}
	ns := float64(n) * max(float64(pause), float64(time.Second)/rate)
	return time.Duration(min(ns, math.MaxInt64/2))
}

// meter counts visits of late: those of the last 30 s, or the last 20 where these took
// longer.
type meter struct {
	late []time.Time // when they ended
	n    int         // of the whole run
}

const (
	late    = 30 * time.Second
	fewLate = 20
)

func (m *meter) add(t time.Time) {
	m.late = append(m.late, t)
	m.n++
	m.forget(t)
}

func (m *meter) forget(now time.Time) {
	for len(m.late) > fewLate && now.Sub(m.late[0]) > late {
		m.late = m.late[1:]
	}
}

// perSecond is the rate of late. The time since the last visit counts once it is longer
// than it was between them.
func (m *meter) perSecond(now time.Time) float64 {
	m.forget(now)
	k := len(m.late)
	if k < 2 {
		return 0
	}
	took := m.late[k-1].Sub(m.late[0])
	if since := now.Sub(m.late[k-1]); since > took/time.Duration(k-1) {
		took, k = took+since, k+1
	}
	if took <= 0 {
		return 0
	}
	return float64(k-1) / took.Seconds()
}
