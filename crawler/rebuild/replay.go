package rebuild

import (
	"bytes"
	"io"
	"net/http"

	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/sitemap"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// replayed is the result of the visits of one URL so far.
type replayed struct {
	entry   *frontier.Entry
	o       *visit.Outcome
	settled *visit.Outcome // for a robots.txt: the first usable outcome
	hops    int            // redirects of a robots.txt followed
	again   bool           // its content is withheld and its links are unknown
}

// past is the robots.txt of an origin at the time of the visit being replayed.
type past struct {
	rules *rules.Robots
	from  crawllog.RobotsVersion
}

// replay replays all visits, in the order of URL ids.
func (b *rebuilder) replay() error {
	var some []*crawllog.Visit
	replay := func() error {
		err := b.visitAll(some)
		some = some[:0]
		if err != nil {
			return err
		}
		return b.commit()
	}
	for v, err := range b.a.Visits(nil) {
		if some = append(some, v); err == nil && len(some) == rebuildBatch {
			err = replay()
		}
		if err != nil {
			return err
		}
	}
	if err := replay(); err != nil {
		return err
	}
	b.settle()
	return b.commit()
}

// commit writes what was replayed, and then requeues URLs, which must be finished before that.
func (b *rebuilder) commit() error {
	if err := b.commitFrontier(); err != nil || len(b.again) == 0 {
		return err
	}
	for _, f := range b.again {
		b.frontier.Requeue(f.ID, f.Attempts)
	}
	b.again = b.again[:0]
	return b.commitFrontier()
}

// visit replays one visit. read is what was read ahead; nil if nothing was.
func (b *rebuilder) visit(v *crawllog.Visit, read *ahead) error {
	if b.last.entry == nil || b.last.entry.ID != v.URLID {
		b.settle()
		found, ok := b.frontier.Get(v.URLID)
		if !ok {
			return &storage.DamageError{File: "crawl.db", What: "a URL cannot be decoded: " + v.URL}
		}
		b.last = replayed{entry: &found.Entry}
	}
	e := b.last.entry
	e.Attempts = v.N - 1
	j := &visit.Attempt{Entry: e, URL: weburl.FromCanonical(v.URL), N: v.N, Now: v.At,
		Earlier: visit.Earlier{Round: v.Round}, Kept: b.kept(v)}
	if err := b.condition(j, v); err != nil {
		return err
	}
	if e.Class == frontier.Prerequisite {
		origin := e.URL.Origin()
		j.Robots = &robotstxt.Request{Origin: origin, Hops: b.last.hops, Had: b.of(origin).from}
	} else if p := b.at(j.URL.Origin(), v); p.rules != nil {
		j.Rules = p.rules
		if d := robotstxt.Decide(p.rules, &p.from, e.URL); d.Allow {
			j.Allowed = &d
		}
	}
	o := b.outcome(j, v, read)
	b.last.o = o
	b.circles.Note(o.Visit)
	b.add(o.Links, e.ID)
	if e.Class != frontier.Prerequisite {
		b.plantRobots(j.URL.Origin(), e.Via)
	}
	b.reader.Learn(o.Names)
	if b.read == nil && o.Facts != nil {
		b.a.KeepFacts(o.Visit, o.Facts)
	}
	if err := b.a.Append(o.Visit, nil); err != nil {
		return err
	}
	if o.UsageFile != nil {
		b.a.AddRobots(o.UsageFile.Version, o.UsageFile.Body)
		return b.commit() // later pages look it up
	}
	if o.Robots == nil {
		return nil
	}
	return b.keepRobots(o)
}

// add adds links to the frontier, as dispose does in a crawl.
func (b *rebuilder) add(links []frontier.Link, via uint64) {
	for _, l := range links {
		b.frontier.Add(l)
		if l.Class != frontier.Disregarded {
			b.plantRobots(l.URL.Origin(), via)
		}
	}
}

// outcome processes the archived response as if it had just arrived.
func (b *rebuilder) outcome(j *visit.Attempt, v *crawllog.Visit, read *ahead) *visit.Outcome {
	if read == nil {
		x, cut, err := b.exchange(j.Entry, v)
		if err != nil {
			return b.unread(j, v)
		}
		read = &ahead{x: x, cut: cut}
		defer x.Release()
	}
	x := read.x
	defer j.Done()
	j.Read, j.Replayed = read.read, j.Replayed || read.cut
	if v.Rendered != nil {
		if html, err := b.a.Rendered(v); err == nil {
			j.Rendered = &visit.Rendered{Rendered: *v.Rendered, HTML: html}
		}
	}
	o := b.reader.Outcome(j, x)
	w := o.Visit
	w.Waited, w.Delay, w.Kept, w.Record, w.Refers = v.Waited, v.Delay, v.Kept, v.Record, v.Refers
	w.Digest, w.Length, w.Suspect = v.Digest, v.Length, v.Suspect
	if j.HeadOnly {
		w.Links = 1 // so that readers of links do not skip it
	}
	if len(v.Usage) > 0 {
		w.Usage = v.Usage // as stated in its record
	}
	return o
}

// unread is the outcome of a visit whose response was withheld or cannot be read: what its status
// says. Its links are unknown.
func (b *rebuilder) unread(j *visit.Attempt, v *crawllog.Visit) *visit.Outcome {
	o := &visit.Outcome{Entry: j.Entry, Visit: v, State: frontier.StateFetched}
	v.Class, v.Robots = j.Entry.Class.String(), j.Allowed
	if v.Status >= 400 {
		o.State, o.Reason = frontier.StateFailed, visit.Answered(v.Status)
	}
	b.last.again = v.Status < 400 && ledOn(v)
	return o
}

// ledOn reports whether a visit whose response cannot be read may have had links to follow. Records of
// older versions do not say; true is assumed.
func ledOn(v *crawllog.Visit) bool {
	if v.Kept != crawllog.KeptWithheld || v.Directives == nil {
		return true
	}
	return !v.Directives.NoFollow && (v.Links > 0 || v.Location != "")
}

// headOnly reports whether links are read later and the rest of the document's metadata is known to be
// in its head (BodyWhole, as determined when the visit was added).
func (b *rebuilder) headOnly(v *crawllog.Visit) bool {
	return b.linksLater && v.Body == crawllog.BodyWhole && visit.Readable(v.ContentType)
}

func (b *rebuilder) kept(v *crawllog.Visit) visit.Kept {
	return visit.Kept{Replayed: v.Body != "", HeadOnly: b.headOnly(v), Body: v.Body}
}

// exchange replays the visit's exchange with as much of the payload as is needed. cut says that the
// payload is longer.
func (b *rebuilder) exchange(e *frontier.Entry, v *crawllog.Visit) (x *fetch.Exchange, cut bool, err error) {
	resp, err := b.a.Response(v)
	if err != nil {
		return nil, false, err
	}
	defer resp.Close()
	most := b.opts.MaxParse
	switch {
	case v.Status == http.StatusNotModified:
		most = -1
	case e.Class == frontier.Sitemap:
		most = sitemap.MaxBytes
	case !visit.Readable(resp.Header.Get("Content-Type")) && e.Class != frontier.Prerequisite:
		most = -1
	case b.headOnly(v) && resp.Header.Get("Content-Encoding") == "":
		most = visit.MaxHead
	}
	payload := bytes.NewBuffer(make([]byte, 0, max(0, min(v.Length, most))+bytes.MinRead))
	_, err = payload.ReadFrom(io.LimitReader(resp.Body, most+1))
	if err != nil && v.Truncated == "" {
		return nil, false, err
	}
	if x, err = b.client.Replay(weburl.FromCanonical(v.URL), v.At, resp.Head, payload.Bytes()); err == nil {
		x.Total, x.Truncated = v.Took, v.Truncated
	}
	return x, int64(payload.Len()) > most, err
}

// settle sets the state of the URL whose visits were replayed last.
func (b *rebuilder) settle() {
	l := b.last
	b.last = replayed{}
	if l.entry == nil {
		return
	}
	o := l.o
	if l.entry.Class == frontier.Prerequisite {
		if o = l.settled; o == nil {
			return // no usable outcome yet: it stays queued
		}
	}
	b.frontier.Settle(l.entry.ID, o.State, o.Reason)
	if l.again {
		b.withheld++
	}
	if l.again || !o.RetryAt.IsZero() {
		l.entry.Attempts = max(l.o.Visit.N, b.a.LastN(l.entry.ID))
		b.again = append(b.again, l.entry)
	}
}

// condition makes the replay of a 304 response a conditional request, as the original one was.
func (b *rebuilder) condition(j *visit.Attempt, v *crawllog.Visit) error {
	if v.Status != http.StatusNotModified || v.Refers == nil {
		return nil
	}
	original, err := b.a.Visit(*v.Refers)
	j.Conditional, j.Original = original != nil, original
	return err
}

// keepRobots stores the outcome of a visit to a robots.txt.
func (b *rebuilder) keepRobots(o *visit.Outcome) error {
	r := o.Robots
	b.a.AddRobots(r.Version, r.Body)
	b.last.hops++
	if r.Version.Used {
		b.last.hops = 0
		b.of(o.Entry.URL.Origin()).from = r.Version
		if b.last.settled == nil {
			b.last.settled = o
		}
	}
	return b.commit() // later pages look it up
}

func (b *rebuilder) of(origin string) *past {
	p := b.past[origin]
	if p == nil {
		p = &past{}
		b.past[origin] = p
	}
	return p
}

// at returns the robots.txt that was in force when a visit was made.
func (b *rebuilder) at(origin string, v *crawllog.Visit) *past {
	p := b.of(origin)
	from, err := b.a.RobotsInForce(origin, v.At)
	if from == nil || err != nil || p.rules != nil && from.Digest == p.from.Digest && from.At.Equal(p.from.At) {
		return p
	}
	body, err := b.a.RobotsBody(from)
	if err != nil {
		return p
	}
	p.from, p.rules = *from, robotstxt.Rules(*from, body, b.opts.Rules)
	return p
}
