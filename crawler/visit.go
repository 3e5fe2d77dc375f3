package crawler

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/warc"
)

// job is one visit to make.
type job struct {
	entry       *frontier.Entry
	url         weburl.URL // the entry's, but for redirects of robots.txt
	n           int        // which visit of the URL
	refetch     bool       // the entry is finished already
	header      http.Header
	conditional bool
	original    *storage.Visit // the response that a conditional request refers to
	good        *storage.Visit // the last good visit, in a round
	before      int            // visits of the URL before the round
	robots      *robotsJob
	rules       *rules.Robots // in force at the host, for Clean-param
	allowed     *storage.Decision
	waited      time.Duration
	pause       time.Duration
	delay       string // why it is so long
	origin      *origin
	paces       []*pace // that it keeps
	shared      *pace   // of these, the one that all hosts of a domain keep
	now         time.Time
	heavy       bool                 // holds crew.heavy
	step        atomic.Pointer[step] // that it is at
	unwanted    judge.Verdict        // on the head of the answer
}

// step is what a visit is doing, and since when.
type step struct {
	name  string
	since time.Time
}

// at notes the step that the visit takes now.
func (j *job) at(name string, now time.Time) { j.step.Store(&step{name, now}) }

func (j *job) inFlight() status.InFlight {
	f := status.InFlight{URL: j.url.String()}
	if s := j.step.Load(); s != nil {
		f.Step, f.Since = s.name, s.since.UTC()
	}
	return f
}

// listing says whether the visit is to a robots.txt or a sitemap, which
// pages of its origin wait for.
func (j *job) listing() bool {
	return j.entry.Class == frontier.Prerequisite || j.entry.Class == frontier.Sitemap
}

// robotsJob marks a visit to robots.txt.
type robotsJob struct {
	origin *origin
	hops   int
	had    storage.RobotsVersion
}

// download tells the loop that a download has ended.
type download struct {
	job    *job
	end    time.Time
	result politeness.Result
	robots *robotsFetch
	local  error // a failure of this machine, not of the site
	// blocked follows a download that has been told of already: what it
	// brought, as reading shows, stands in the page's place.
	blocked string
	// loggedOut follows in the same way: the login has ended.
	loggedOut string
}

// work makes visits, from j on, until there are no more. A worker that stays
// has its stack grown already.
func (c *Crawl) work(ctx context.Context, j *job) {
	for ok := true; ok; j, ok = <-c.crew.jobs {
		c.visit(ctx, j)
	}
}

// visit makes one visit: fetch (3), read (4), decide (5), prepare its records.
func (c *Crawl) visit(ctx context.Context, j *job) {
	c.recallPage(j)
	j.at(fetch.StepConnect, c.now())
	x := c.client.Do(ctx, fetch.Request{URL: j.url, Header: j.header, Step: func(s string) { j.at(s, c.now()) }, Wanted: c.wanted(j), Hold: c.hold(j)})
	d := &download{job: j, end: x.End(), result: ResultOf(x)}
	if kind := fetch.KindOf(x.Err); kind == fetch.KindCanceled || kind == fetch.KindLocal && !errors.Is(x.Err, fetch.ErrNoRoom) {
		d.local = x.Err
		x.Release()
		c.crew.fetched <- d // before it is over: the loop must not end as if nothing had failed
		c.flight.dropped(j)
		return
	}
	held := x.Memory()
	c.flight.hold(held)
	if j.robots == nil {
		c.crew.fetched <- d
	}
	// Reading and compressing are all processor: more at once than there are
	// processors would only hold more buffers.
	c.crew.processor <- struct{}{}
	if j.entry.Class == frontier.Sitemap { // up to 50 MB, read whole
		c.crew.heavy.Lock()
		j.heavy = true
	}
	o := c.outcome(j, x)
	o.held = held
	if j.robots != nil {
		d.robots = o.robots
		c.crew.fetched <- d
	} else if v := o.Visit; v.Blocked != "" && v.Status != http.StatusTooManyRequests && j.entry.How != judge.HowProbe {
		c.crew.fetched <- &download{job: j, end: d.end, blocked: v.Blocked}
	}
	if o.hurry = j.pause == 0 || c.flight.busy(); o.ended == "" {
		c.prepare(o)
	}
	if j.heavy {
		c.crew.heavy.Unlock()
	}
	<-c.crew.processor
	if o.ended != "" { // it stays queued, to be asked for with a new login
		o.release()
		c.flight.hold(-o.held)
		c.crew.fetched <- &download{job: j, end: d.end, loggedOut: o.ended}
		c.flight.dropped(j)
		return
	}
	j.at("committing", c.now())
	c.crew.outcomes <- o
	c.flight.handed()
}

// wanted asks the rules about the head of an answer, which may spare its body.
func (c *Crawl) wanted(j *job) func(status int, h http.Header) bool {
	settings := c.scope.Load()
	if j.listing() || j.entry.IsSeed() || len(settings.SkipTypes) == 0 && settings.SkipLarger == 0 {
		return nil
	}
	return func(status int, h http.Header) bool {
		if status < 200 || status > 299 {
			return true
		}
		f := &judge.Facts{Settings: settings, Now: j.now, Answer: judge.Answer{Type: h.Get("Content-Type"), Length: -1}}
		if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil {
			f.Answer.Length = n
		}
		j.unwanted = judge.Decide(judge.Answered, &j.entry.Link, f)
		return !j.unwanted.Excludes()
	}
}

func ResultOf(x *fetch.Exchange) politeness.Result {
	r := politeness.Result{Status: x.Status, Took: x.Total, Failure: string(fetch.KindOf(x.Err))}
	if errors.Is(x.Err, fetch.ErrNoRoom) {
		r.Failure = "" // it is not the host's
	}
	if x.Header != nil {
		r.RetryAfter = x.Header.Get("Retry-After")
	}
	return r
}

// outcome reads the response and decides.
func (c *Crawl) outcome(j *job, x *fetch.Exchange) *Outcome {
	doc := c.read(j, x)
	o := c.decide(j, x, doc)
	if j.robots != nil {
		c.outcomeOfRobots(o, j, x)
	}
	if j.entry.How == judge.HowProbe {
		o.answered(c, j)
	}
	if j.entry.Class == frontier.Sitemap && x.Err == nil && x.Status == 200 {
		c.outcomeOfSitemap(o, j, x)
	}
	return o
}

// outcomeOfRobots lets the fetch of robots.txt decide when its URL is done.
func (c *Crawl) outcomeOfRobots(o *Outcome, j *job, x *fetch.Exchange) {
	o.robots = c.readRobots(j, x)
	if o.Visit.Kept == storage.KeptWithheld && o.robots.Version.Digest != "" {
		o.robots.OnlyRules(c.opts.Rules)
	}
	o.RetryAt, o.Links = time.Time{}, nil
	if o.robots.Version.Used && o.State == frontier.StateFailed { // there is none: that is an answer (RFC 9309 §2.3.1.3)
		o.State, o.Reason = frontier.StateFetched, judge.Reason{}
	}
	// A hop or a failure leaves the URL as it was: the loop asks again.
	o.refetch = o.refetch || !o.robots.Version.Used
	if !o.robots.Version.Used || o.robots.Rules == nil || !c.ours(j.robots.origin) {
		return
	}
	o.hostAlias(c, robotstxt.URL(j.robots.origin.name), o.robots.Rules)
	for _, s := range c.sitemapsOf(o.robots, j) {
		o.Links = c.addSitemap(o.Links, j, frontier.Link{URL: s, How: judge.HowSitemapLine})
	}
}

// read is what the document says; for a response without one, its header.
func (c *Crawl) read(j *job, x *fetch.Exchange) *htmlmeta.Document {
	if x.Err != nil {
		return &htmlmeta.Document{Directives: htmlmeta.Unrestricted()}
	}
	o := c.reading()
	p := htmlmeta.Page{URL: j.url, Header: x.Header}
	listing := j.isListing()
	if readable(x.Header.Get("Content-Type")) && (!listing || isPage(x)) {
		body, cut, err := x.Decoded(c.opts.MaxParse)
		if err != nil || cut {
			c.opts.Logger.Debug("body not read to its end", "url", j.url.String(), "cut", cut, "err", err)
		}
		p.Body = body
		if len(body) > heavyBody && !j.heavy {
			c.crew.heavy.Lock()
			j.heavy = true
		}
	}
	doc := htmlmeta.Read(p, o)
	if listing {
		doc = htmlmeta.Document{Directives: doc.Directives}
	}
	return &doc
}

// reading is for whom documents are read.
func (c *Crawl) reading() htmlmeta.Options {
	return htmlmeta.Options{Agents: c.opts.Rules.Agents, IgnoreRelNofollow: !c.opts.RelNofollow}
}

// isPage says whether a page stands where a robots.txt or a sitemap should:
// what it asks of crawlers holds there, too.
func isPage(x *fetch.Exchange) bool {
	body, _, _ := x.Decoded(1 << 10)
	return htmlmeta.KindOf(x.Header, body) == htmlmeta.HTML
}

// heavyBody is the decoded body from which on only one is read at a time: what
// is made of it, links above all, may be ten times as large.
const heavyBody = 2 << 20

// readable says whether a body of this type may hold links: all text and
// what is not declared. What is plainly picture, sound or archive is not read.
func readable(contentType string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), "/")
	switch strings.TrimSpace(kind) {
	case "image":
		return strings.Contains(strings.ToLower(contentType), "svg")
	case "audio", "video", "font":
		return false
	}
	return true
}

// classOf is the queue that a link's target belongs to; !ok where crawlers
// do not follow (a form is no link).
func classOf(l *htmlmeta.Link) (frontier.Class, bool) {
	switch l.Kind {
	case htmlmeta.Requisite:
		return frontier.Requisite, true
	case htmlmeta.Speculative:
		return frontier.Speculative, true
	case htmlmeta.Form, htmlmeta.Hint:
		return 0, false
	}
	return frontier.Page, true
}

// prepare makes the records of the visit while it is still nobody's turn to
// write: compressing is most of the work.
func (c *Crawl) prepare(o *Outcome) {
	if o.Visit.Status == 0 || o.x.Unwanted {
		o.Visit.Kept = ""
		return
	}
	if o.large() {
		return
	}
	infoID := c.archive.InfoID()
	if infoID == "" {
		return
	}
	buf := memberPool.Get().(*[]byte)
	members, err := o.encode((*buf)[:0], infoID)
	*buf = members
	if err != nil { // the committer meets it again
		if errors.Is(err, warc.ErrReadBack) {
			o.broken = err
		}
		memberPool.Put(buf)
		return
	}
	o.buf, o.members, o.infoID = buf, members, infoID
	c.flight.hold(cap(members) - o.held)
	o.held = cap(members)
	// All that a revisit needs, should the committer find that another visit
	// brought the same payload; the rest makes room for the next body.
	head, request := bytes.Clone(o.x.Head), bytes.Clone(o.x.RequestBytes)
	o.x.Release()
	o.x.Head, o.x.RequestBytes, o.released = head, request, true
}

// release gives back what an outcome holds, once it is committed or dropped.
func (o *Outcome) release() {
	if o.x != nil && !o.released {
		o.x.Release()
	}
	if o.buf != nil {
		memberPool.Put(o.buf)
		o.buf, o.members = nil, nil
	}
}

// deduplicate makes the visit a revisit when its payload is held already.
func (c *Crawl) deduplicate(o *Outcome) error {
	v := o.Visit
	if v.Kept != storage.KeptResponse || v.Length == 0 {
		return nil
	}
	original, err := c.archive.Original(v.SHA256)
	if err != nil || original == nil || original.Ref() == v.Ref() { // itself, in a rebuild
		return err
	}
	o.refer(original)
	return nil
}

func (o *Outcome) refer(original *storage.Visit) {
	ref := original.Ref()
	o.Visit.Kept, o.Visit.Refers = storage.KeptRevisit, &ref
	o.original = original
	o.members = nil
}

// passing says whether a failure may be gone at the next try.
func passing(err error) bool {
	switch fetch.KindOf(err) {
	case fetch.KindBlocked, fetch.KindProtocol, fetch.KindHead:
		return false
	}
	return true
}

func directivesOf(d *htmlmeta.Directives) *storage.Directives {
	if len(d.Sources) == 0 {
		return nil
	}
	s := &storage.Directives{NoIndex: !d.Index, NoFollow: !d.Follow, NoArchive: !d.Archive,
		NoImageIndex: !d.ImageIndex, NoTranslate: !d.Translate}
	if d.MaxSnippet >= 0 {
		s.MaxSnippet = &d.MaxSnippet
	}
	if !d.UnavailableAfter.IsZero() {
		s.UnavailableAfter = &d.UnavailableAfter
	}
	for _, src := range d.Sources {
		s.Sources = append(s.Sources, storage.Source{Directive: src.Directive, From: src.From, Text: src.Text})
	}
	return s
}
