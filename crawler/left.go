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

// meter counts visits of late: over the last 30 s, or as long as the last 20
// visits took where that is longer.
type meter struct {
	slots [30]int
	at    int64 // second of the newest slot
	first int64
	last  [20]time.Time // when these visits ended
	n     int
}

func (m *meter) add(t time.Time) {
	m.turn(t.Unix())
	m.slots[m.at%int64(len(m.slots))]++
	m.last[m.n%len(m.last)] = t
	m.n++
}

func (m *meter) turn(second int64) {
	if m.first == 0 {
		m.first, m.at = second, second
	}
	for ; m.at < second; m.at++ {
		m.slots[(m.at+1)%int64(len(m.slots))] = 0
		if second-m.at > int64(len(m.slots)) {
			m.at = second - int64(len(m.slots))
		}
	}
}

func (m *meter) perSecond(now time.Time) float64 {
	if m.first == 0 {
		return 0
	}
	m.turn(now.Unix())
	n := 0
	for _, v := range m.slots {
		n += v
	}
	if n < len(m.last) && m.n > 1 {
		return m.slow(now)
	}
	return float64(n) / float64(min(int64(len(m.slots)), m.at-m.first+1))
}

// slow is the rate of the last visits. The time since the last one counts once
// it is longer than it was between them.
func (m *meter) slow(now time.Time) float64 {
	k := min(m.n, len(m.last))
	newest, oldest := m.last[(m.n-1)%len(m.last)], m.last[(m.n-k)%len(m.last)]
	took := newest.Sub(oldest)
	if since := now.Sub(newest); since > took/time.Duration(k-1) {
		took, k = took+since, k+1
	}
	if took <= 0 {
		return 0
	}
	return float64(k-1) / took.Seconds()
}
