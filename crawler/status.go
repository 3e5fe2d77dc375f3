package crawler

import (
	"cmp"
	"encoding/json"
	"os"
	"time"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/politeness"
	"curtsy/storage"
)

// Status is what a crawl is doing. A running crawl publishes it in the
// archive as status.json, which any process may read.
type Status struct {
	State       string `json:"state"` // running, finished, limited, stopped, refused
	Why         string `json:"why,omitempty"`
	Seed        string `json:"seed"`
	Discovered  int    `json:"discovered"`
	Queued      int    `json:"queued"`
	InProcess   int    `json:"in_process"`
	Fetched     int    `json:"fetched"`
	Failed      int    `json:"failed"`
	Disregarded int    `json:"disregarded"`
	Orphans     int    `json:"orphans"` // pages of sitemaps that no link has led to
	// Rules counts the URLs that failed or were left out by the rule that
	// decided; Reasons are the most frequent of their reasons.
	Rules      map[string]int `json:"rules,omitempty"`
	Reasons    []judge.Count  `json:"reasons,omitempty"`
	Pages      int            `json:"pages"`
	Visits     int            `json:"visits"`
	Bytes      int64          `json:"bytes"`
	Kept       int            `json:"kept"`
	Revisits   int            `json:"revisits"`
	Withheld   int            `json:"withheld"`
	InFlight   []InFlight     `json:"in_flight,omitempty"` // the oldest of them
	Rate       float64        `json:"rate"`                // visits a second of late
	Delay      string         `json:"delay,omitempty"`
	WaitingFor string         `json:"waiting_for,omitempty"`
	NextDue    *time.Time     `json:"next_due,omitempty"`
	// Left is the least time that the queue takes at the present rate; what
	// is not yet discovered comes on top. 0 is unknown.
	Left    time.Duration `json:"left_ns,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns"`
	Updated time.Time     `json:"updated"`
	PID     int           `json:"pid,omitempty"`
}

// ShownReasons is how many reasons a status shows: a robots.txt may have
// thousands of lines that each deny one URL.
const ShownReasons = 10

// maxInFlight is how many visits in flight a Status lists.
const maxInFlight = 16

// status puts a Status together; the loop calls it.
func (c *Crawl) status(now time.Time, state string) Status {
	s := newStatus(c.State(), c.frontier.Counts(), state)
	s.InProcess, s.InFlight = c.flight.inProcess(maxInFlight)
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
	if s.Rate > 0 {
		s.Left = time.Duration(float64(s.Queued) / s.Rate * float64(time.Second))
	}
	return s
}

func newStatus(st State, n frontier.Counts, state string) Status {
	return Status{State: state, Why: st.Ended, Seed: st.Seed, Discovered: n.Discovered, Queued: n.Queued(), Fetched: n.Fetched,
		Failed: n.Failed, Disregarded: n.Disregarded, Orphans: n.Orphans, Rules: n.Reasons.Rules(), Reasons: n.Reasons.Largest(ShownReasons), Pages: st.Pages, Visits: st.Visits,
		Bytes: st.Bytes, Kept: st.Kept, Revisits: st.Revisits, Withheld: st.Withheld, Elapsed: st.Elapsed, Updated: st.Updated}
}

// report publishes the status and tells whoever watches.
func (c *Crawl) report(state string) {
	s := c.status(c.now(), state)
	c.publish(s)
	if c.opts.Watch != nil {
		c.opts.Watch(s)
	}
}

// publish replaces status.json. It is derived data: failing to write it is
// worth a line in the log and no more.
func (c *Crawl) publish(s Status) {
	b, err := json.Marshal(s)
	if err == nil {
		err = c.archive.PutStatus(b)
	}
	if err != nil {
		c.opts.Logger.Debug("status not published", "err", err)
	}
}

// ReadStatus is the status of an archive, be it crawled right now or not.
func ReadStatus(dir string) (s Status, err error) {
	defer storage.Guard(&err)()
	a, f, err := openRead(dir)
	if err != nil {
		if s, ok := published(dir); ok && isInUse(err) {
			return s, nil
		}
		return Status{}, err
	}
	defer a.Close()
	var st State
	if ok, err := a.Crawl(&st); err != nil || !ok {
		return Status{}, orNone(err, dir)
	}
	state := cmp.Or(st.Ending, "stopped")
	return newStatus(st, f.Counts(), state), nil
}

func published(dir string) (s Status, ok bool) {
	b, err := storage.Status(dir)
	if err != nil {
		return s, false
	}
	return s, json.Unmarshal(b, &s) == nil
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
