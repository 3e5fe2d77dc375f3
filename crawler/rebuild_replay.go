package crawler

import (
	"io"
	"net/http"

	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/storage"
)

// replayed is what came of the visits of a URL so far.
type replayed struct {
	entry   *frontier.Entry
	o       *Outcome
	settled *Outcome // for a robots.txt: the first that could be used
	hops    int      // redirects of a robots.txt followed
	again   bool     // withheld, and its links are known to nobody
}

// past is the robots.txt of an origin as a rebuild goes through time.
type past struct {
	origin origin
}

// replay makes every visit once more, in the order of the URLs' ids.
func (b *rebuilder) replay() error {
	for at := (storage.Ref{}); ; {
		visits, err := b.r.VisitsAfter(at, rebuildBatch)
		if err != nil {
			return err
		}
		for _, v := range visits {
			if err := b.visit(v); err != nil {
				return err
			}
			at = v.Ref()
		}
		if len(visits) == 0 {
			b.settle()
		}
		if err := b.commit(); err != nil || len(visits) == 0 {
			return err
		}
	}
}

// commit writes what was replayed. What is to be fetched again must be
// finished first.
func (b *rebuilder) commit() error {
	if err := b.c.commitFrontier(); err != nil || len(b.again) == 0 {
		return err
	}
	err := b.c.commitFrontier(b.again...)
	b.again = b.again[:0]
	return err
}

// visit replays one visit.
func (b *rebuilder) visit(v *storage.Visit) error {
	if b.last.entry == nil || b.last.entry.ID != v.URLID {
		b.settle()
		found, ok := b.c.frontier.Get(v.URLID)
		if !ok {
			return &storage.DamageError{File: "crawl.db", What: "a URL does not read back: " + v.URL}
		}
		b.last = replayed{entry: &found.Entry}
	}
	e := b.last.entry
	e.Attempts = v.N - 1
	j := &job{entry: e, url: weburl.FromCanonical(v.URL), n: v.N, now: v.At}
	if err := b.condition(j, v); err != nil {
		return err
	}
	if e.Class == frontier.Prerequisite {
		b.prepareRobots(j, v)
	} else if h := b.at(j.url.Origin(), v); h.rules != nil {
		j.rules = h.rules
		if d := h.gate(e); d.Allow {
			j.allowed = &d
		}
	}
	o := b.outcome(j, v)
	b.last.o = o
	b.add(o.Links, e.ID)
	if e.Class != frontier.Prerequisite {
		b.c.plantRobots(j.url.Origin(), e.Via)
	}
	if o.Alias != "" {
		b.c.scope.Store(b.c.scope.Load().With(o.Alias))
	}
	b.r.AddVisit(o.Visit)
	if o.robots == nil {
		return nil
	}
	return b.keepRobots(o)
}

// add tells the frontier of links, as settle does in a crawl.
func (b *rebuilder) add(links []frontier.Link, via uint64) {
	for _, l := range links {
		b.c.frontier.Add(l)
		if l.Class != frontier.Disregarded {
			b.c.plantRobots(l.URL.Origin(), via)
		}
	}
}

// outcome reads what is kept and decides, as when it came.
func (b *rebuilder) outcome(j *job, v *storage.Visit) *Outcome {
	x, err := b.exchange(j, v)
	if err != nil {
		return b.unread(j, v)
	}
	defer x.Release()
	o := b.c.outcome(j, x)
	if j.heavy {
		b.c.crew.heavy.Unlock()
	}
	w := o.Visit
	w.Waited, w.Delay, w.Kept, w.Record, w.Refers = v.Waited, v.Delay, v.Kept, v.Record, v.Refers
	w.Digest, w.SHA256, w.Length, w.Suspect = v.Digest, v.SHA256, v.Length, v.Suspect
	return o
}

// unread is the outcome of a visit whose response is withheld, or has a head
// that cannot be read again: what its status says. Its links are nowhere.
func (b *rebuilder) unread(j *job, v *storage.Visit) *Outcome {
	o := &Outcome{entry: j.entry, Visit: v, State: frontier.StateFetched}
	v.Class, v.Robots = j.entry.Class.String(), j.allowed
	if v.Status >= 400 {
		o.State, o.Reason = frontier.StateFailed, answered(v.Status)
	}
	b.last.again = v.Status < 400 && ledOn(v)
	return o
}

// ledOn says whether a visit whose response cannot be read had links that may
// be followed. An older curtsy does not say.
func ledOn(v *storage.Visit) bool {
	if v.Kept != storage.KeptWithheld || v.Directives == nil {
		return true
	}
	return !v.Directives.NoFollow && (v.Links > 0 || v.Location != "")
}

// exchange is the visit's exchange, with as much of the payload as is read.
func (b *rebuilder) exchange(j *job, v *storage.Visit) (*fetch.Exchange, error) {
	resp, err := b.r.Response(v)
	if err != nil {
		return nil, err
	}
	defer resp.Close()
	most := b.c.opts.MaxParse
	switch {
	case v.Status == http.StatusNotModified:
		most = -1
	case j.entry.Class == frontier.Sitemap:
		most = MaxSitemap
	case !readable(resp.Header.Get("Content-Type")) && j.robots == nil:
		most = -1
	}
	payload, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil && v.Truncated == "" {
		return nil, err
	}
	x, err := b.c.client.Replay(j.url, v.At, resp.Head, payload)
	if err == nil {
		x.Total, x.Truncated = v.Took, v.Truncated
	}
	return x, err
}

// settle says what became of the URL whose visits were replayed last.
func (b *rebuilder) settle() {
	l := b.last
	b.last = replayed{}
	if l.entry == nil {
		return
	}
	o := l.o
	if l.entry.Class == frontier.Prerequisite {
		if o = l.settled; o == nil {
			return // it could not be had so far: it waits
		}
	}
	b.c.frontier.Settle(l.entry.ID, o.State, o.Reason)
	if l.again {
		b.withheld++
	}
	if l.again || !o.RetryAt.IsZero() {
		again := frontier.Found{Entry: *l.entry}
		again.Attempts = l.o.Visit.N
		b.again = append(b.again, again)
	}
}

// prepareRobots makes the job one that asks for a robots.txt.
func (b *rebuilder) prepareRobots(j *job, v *storage.Visit) {
	p := b.of(j.entry.URL.Origin())
	j.robots = &robotsJob{origin: &p.origin, hops: b.last.hops, had: p.origin.from}
}

// condition makes the job of an unchanged answer a conditional one, as it was.
func (b *rebuilder) condition(j *job, v *storage.Visit) error {
	if v.Status != http.StatusNotModified || v.Refers == nil {
		return nil
	}
	original, err := b.r.Visit(*v.Refers)
	j.conditional, j.original = original != nil, original
	return err
}

// keepRobots takes in what a visit to a robots.txt brought.
func (b *rebuilder) keepRobots(o *Outcome) error {
	r := o.robots
	b.r.AddRobots(r.Version, r.Body)
	b.last.hops++
	if r.Version.Used {
		b.last.hops = 0
		r.origin.from = r.Version
		if b.last.settled == nil {
			b.last.settled = o
		}
	}
	return b.commit() // its pages ask for it
}

func (b *rebuilder) of(name string) *past {
	p := b.past[name]
	if p == nil {
		p = &past{origin: origin{name: name}}
		b.past[name] = p
	}
	return p
}

// at is an origin with the robots.txt that was in force when the visit was made.
func (b *rebuilder) at(origin string, v *storage.Visit) *origin {
	p := b.of(origin)
	from, err := b.r.RobotsInForce(origin, v.At)
	if from == nil || err != nil || p.origin.rules != nil && from.Digest == p.origin.from.Digest && from.At.Equal(p.origin.from.At) {
		return &p.origin
	}
	body, err := b.r.RobotsBody(from)
	if err != nil {
		return &p.origin
	}
	p.origin.from, p.origin.rules = *from, robotstxt.Rules(*from, body, b.c.opts.Rules)
	return &p.origin
}
