package crawler

import (
	"encoding/json"
	"os"
	"time"

	"curtsy/crawler/status"
	"curtsy/politeness"
)

// status puts a Status together; the loop calls it.
func (c *Crawl) status(now time.Time, state string) status.Status {
	s := status.Of(c.State(), c.frontier.Counts(), state)
	s.InProcess, s.InFlight = c.flight.inProcess(status.MaxInFlight)
	s.Rate = c.run.rate.perSecond(now)
	s.Updated, s.PID = now.UTC(), os.Getpid()
	if o := c.schedule.origins[c.opts.Seed.Origin()]; o != nil {
		_, s.Delay = o.pace.Delay()
	}
	if state != "running" {
		s.PID, s.InFlight = 0, nil
		return s
	}
	if c.run.wait.why != "" {
		s.WaitingFor = c.run.wait.why
		if !c.run.wait.until.Equal(politeness.Never) {
			until := c.run.wait.until.UTC()
			s.NextDue = &until
		}
	}
	if s.Growth = c.run.trend.growth(); s.Rate > 0 && s.Growth < growing {
		s.Left = time.Duration(float64(s.Queued) / s.Rate * float64(time.Second))
	}
	return s
}

// report publishes the status and tells whoever watches.
func (c *Crawl) report(state string) {
	n := c.frontier.Counts().OfSite()
	c.run.trend.add(n.Discovered, n.Queued())
	s := c.status(c.now(), state)
	c.publish(s)
	if c.opts.Watch != nil {
		c.opts.Watch(s)
	}
}

// publish replaces status.json. It is derived data: failing to write it is
// worth a line in the log and no more.
func (c *Crawl) publish(s status.Status) {
	b, err := json.Marshal(s)
	if err == nil {
		err = c.archive.PutStatus(b)
	}
	if err != nil {
		c.opts.Logger.Debug("status not published", "err", err)
	}
}

// meter counts visits over the last seconds.
type meter struct {
	slots [30]int
	at    int64 // second of the newest slot
	first int64
}

func (m *meter) add(t time.Time) {
	m.turn(t.Unix())
	m.slots[m.at%int64(len(m.slots))]++
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
	return float64(n) / float64(min(int64(len(m.slots)), m.at-m.first+1))
}
