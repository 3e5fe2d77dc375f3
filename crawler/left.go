package crawler

import (
	"math"
	"time"
)

// left estimates how long n visits take: at the recent rate, but never less than the pauses between
// them. URLs not discovered yet add to it; URLs that rules deny or a redirect merges take no time.
// Over a whole crawl these two roughly cancel out. 0 is unknown.
func left(n int, rate float64, pause time.Duration) time.Duration {
	if rate <= 0 {
		return 0
	}
	ns := float64(n) * max(float64(pause), float64(time.Second)/rate)
	return time.Duration(min(ns, math.MaxInt64/2))
}

// meter measures the recent rate of visits: those of the last 30 s, but at least the last 20.
type meter struct {
	late []time.Time // end times of the recent visits
	n    int         // visits of the whole run
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

// perSecond returns the recent rate. The time since the last visit counts if it is longer than the
// average time between visits.
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
