package crawler

import (
	"encoding/json"
	"os"
	"time"

	"curtsy/crawler/status"
	"curtsy/internal/legible"
	"curtsy/politeness"
)

// status builds a Status. Only the loop calls it.
func (c *Crawl) status(now time.Time, state string) status.Status {
	s := status.Of(c.State(), c.frontier.Counts(), state)
	s.InProcess, s.InFlight = c.flight.inProcess(status.MaxInFlight)
	s.Rate = c.run.rate.perSecond(now)
	s.Updated, s.PID = now.UTC(), os.Getpid()
	var pause time.Duration // the present pause between two requests to the site
	if o := c.schedule.origins[c.opts.Seed.Origin()]; o != nil {
		pause, s.Delay = o.pace.Delay()
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
	if s.Growth = c.run.trend.growth(); !s.Growing() && !c.run.paused && c.run.rate.n >= leastVisits {
		s.Left = left(c.toDo(s.Queued), s.Rate, pause)
		if s.NextDue != nil { // everything queued waits, for a retry or for permitted hours
			s.Left = max(s.Left, s.NextDue.Sub(now))
		}
	}
	return s
}

// leastVisits is the number of visits after which the remaining time is estimated.
const leastVisits = 5

// toDo returns how many of the queued URLs will be fetched before the crawl ends or reaches its limit of
// pages.
func (c *Crawl) toDo(queued int) int {
	if most := c.opts.Limits.Pages; most > 0 {
		st := c.ledger.get()
		return min(queued, max(most-st.OfRound().Pages, 0))
	}
	return queued
}

// report publishes the status and calls Watch.
func (c *Crawl) report(state string) {
	n := c.frontier.Counts().OfSite()
	c.run.trend.add(n.Discovered, n.Queued())
	now := c.now()
	s := c.status(now, state)
	if since := now.Sub(c.run.published); since >= c.opts.StatusEvery || since < 0 {
		c.run.published = now
		c.publish(s)
	}
	if c.opts.Watch != nil {
		c.opts.Watch(s)
	}
}

// publish replaces status.json. It is derived data, so a failure is only logged.
func (c *Crawl) publish(s status.Status) {
	b, err := json.Marshal(s)
	if err == nil {
		err = c.archive.PutStatus(legible.JSON(b))
	}
	if err != nil {
		c.opts.Logger.Debug("status not published", "err", err)
	}
}
