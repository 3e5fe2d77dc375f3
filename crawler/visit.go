package crawler

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/crawler/status"
	"curtsy/crawler/visit"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/storage"
)

// job is a visit to be made at an origin.
type job struct {
	visit.Attempt
	origin *origin
	pause  time.Duration
	paces  []*pace              // the paces that it must keep
	step   atomic.Pointer[step] // the step in progress
}

// outcome is the outcome of one URL on its way to the committer.
type outcome struct {
	*visit.Outcome
	records *visit.Records // own the response's buffers; nil without a visit
	job     *job           // nil without a visit
	held    int            // octets counted in flight.held
	brought int64          // octets counted in flight.brought
	asked   weburl.URL     // the URL a rendered page asked for, if the outcome is only that
}

// release frees the buffers of a visit that is committed or dropped.
func (o *outcome) release() {
	if o.records != nil {
		o.records.Release()
	}
}

// dismiss sends the outcome of a URL without a visit to the committer.
func (c *Crawl) dismiss(o *visit.Outcome) {
	c.flight.dismiss()
	c.crew.outcomes <- &outcome{Outcome: o}
}

// step is what a visit is doing, and since when.
type step struct {
	name  string
	since time.Time
}

// at records the step that the visit has reached.
func (j *job) at(name string, now time.Time) { j.step.Store(&step{name, now}) }

func (j *job) inFlight() status.InFlight {
	f := status.InFlight{URL: j.URL.String()}
	if s := j.step.Load(); s != nil {
		f.Step, f.Since = s.name, s.since.UTC()
	}
	return f
}

// download tells the loop that a download has ended.
type download struct {
	job    *job
	end    time.Time
	result politeness.Result
	robots *robotstxt.Answer
	local  error // a failure of this machine, not of the site
	// blocked is sent in a second download value, after the first: the response has been found
	// to be a challenge.
	blocked string
	// loggedOut is sent in the same way: the login has ended.
	loggedOut string
}

// work makes j and further visits until there are no more jobs. Reusing the goroutine keeps its grown
// stack.
func (c *Crawl) work(ctx context.Context, j *job) {
	for ok := true; ok; j, ok = <-c.crew.jobs {
		c.visit(ctx, j)
	}
}

// visit makes one visit. If crawl.db proves damaged meanwhile, the crawl ends.
func (c *Crawl) visit(ctx context.Context, j *job) {
	m := &making{outcome: outcome{job: j}}
	if err := c.make(ctx, m); err != nil {
		c.ledger.fail(err)
		j.Done()
		if !m.told {
			c.crew.fetched <- &download{job: j, end: c.now(), local: err}
		}
		c.drop(&m.outcome)
	}
}

// making is a visit in progress.
type making struct {
	outcome
	told bool // the loop has been told that the download has ended
}

// make fetches (step 3), reads (4) and decides (5), and prepares the records.
func (c *Crawl) make(ctx context.Context, m *making) (err error) {
	defer storage.Guard(&err)()
	j, o := m.job, &m.outcome
	if round := c.ledger.state.Round; round != nil {
		c.reader.Recall(&j.Attempt, round.N, round.Began)
	}
	j.at(fetch.StepConnect, c.now())
	x := c.client.Do(ctx, fetch.Request{URL: j.URL, Header: j.Header, Step: func(s string) { j.at(s, c.now()) },
		Wanted: c.reader.Wanted(&j.Attempt), Hold: c.reader.Hold(&j.Attempt)})
	o.records = visit.RecordsOf(x)
	d := &download{job: j, end: x.End(), result: ResultOf(x)}
	if kind := fetch.KindOf(x.Err); kind == fetch.KindCanceled || kind == fetch.KindLocal &&
		!errors.Is(x.Err, fetch.ErrNoRoom) {
		d.local = x.Err
		c.crew.fetched <- d // before drop: else the loop might end as if nothing had failed
		c.drop(o)
		return nil
	}
	o.held, o.brought = x.Memory(), x.Held()
	c.flight.hold(o.held)
	c.flight.came(o.brought)
	if j.Robots == nil {
		c.crew.fetched <- d
		m.told = true
	}
	if !c.render(j, x) {
		c.drop(o)
		return nil
	}
	c.crew.process(func() {
		o.Outcome = c.reader.Outcome(&j.Attempt, x)
		if j.Robots != nil {
			d.robots = o.Robots
			c.crew.fetched <- d
			m.told = true
		} else if v := o.Visit; v.Blocked != "" && v.Status != http.StatusTooManyRequests &&
			j.Entry.How != judge.HowProbe {
			c.crew.fetched <- &download{job: j, end: d.end, blocked: v.Blocked}
		}
		if o.LoggedOut == "" {
			c.prepare(o)
		}
		if len(o.Links) < manyLinks || o.LoggedOut != "" {
			j.Done()
		}
	})
	if o.LoggedOut != "" { // the URL stays queued, for a run with a new login
		c.crew.fetched <- &download{job: j, end: d.end, loggedOut: o.LoggedOut}
		c.drop(o)
		return nil
	}
	j.at("committing", c.now())
	c.crew.outcomes <- o
	c.flight.handed()
	return nil
}

// manyLinks is the number of links from which on only one visit at a time may hold them until they are
// committed.
const manyLinks = 1 << 14

// drop ends a visit that leaves nothing to commit, and frees its buffers.
func (c *Crawl) drop(o *outcome) {
	o.release()
	c.flight.hold(-o.held)
	c.flight.came(-o.brought)
	c.flight.dropped(o.job)
}

// prepare encodes the records of the visit outside the committer, since compressing is most of the work.
func (c *Crawl) prepare(o *outcome) {
	if n := o.records.Prepare(o.Outcome, c.archive.InfoID(), o.job.pause == 0 || c.flight.busy()); n >= 0 {
		c.flight.hold(n - o.held)
		o.held = n
	}
}

// ResultOf converts an exchange to the result that the pace of its host takes into account.
func ResultOf(x *fetch.Exchange) politeness.Result {
	r := politeness.Result{Status: x.Status, Took: x.Total, Failure: string(fetch.KindOf(x.Err))}
	if errors.Is(x.Err, fetch.ErrNoRoom) {
		r.Failure = "" // a failure of this machine
	}
	if x.Header != nil {
		r.RetryAfter = x.Header.Get("Retry-After")
	}
	return r
}
