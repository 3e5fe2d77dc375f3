package crawler

import (
	"encoding/hex"
	"sync"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/warc"
)

// Outcome is what became of one URL: a plain value, decided (step 5) before
// anything is written.
type Outcome struct {
	entry   *frontier.Entry
	refetch bool // a robots.txt fetched again: its URL is finished already

	State   frontier.State
	Reason  judge.Reason
	RetryAt time.Time // not zero: to be visited again then
	Visit   *storage.Visit
	Links   []frontier.Link
	Alias   string // an origin that the seed's redirect, or Host, makes part of the scope

	ended    string       // not "": why the login seems to have ended
	robots   *robotsFetch // for a robots.txt
	job      *job         // nil where there was no visit
	x        *fetch.Exchange
	via      string         // the URL that led here
	original *storage.Visit // who holds the payload of a revisit
	members  []byte         // its records, ready to be written
	broken   error          // what reading them back found
	held     int            // counted in flight.held
	released bool           // x gave its buffers back
	buf      *[]byte        // where members lie, from memberPool
	infoID   string         // the warcinfo record that members name
	hurry    bool           // others wait for the processor, or could: compress by the quick road
}

// because is a reason with a text.
func because(rule, text string) judge.Reason {
	return judge.Reason{Rule: rule, Params: judge.Params{Text: text}}
}

// answered is the reason of a URL whose answer has a status that is no success.
func answered(status int) judge.Reason {
	return judge.Reason{Rule: judge.HTTP, Params: judge.Params{Status: status}}
}

// decide turns an exchange and what its document says into an outcome.
func (c *Crawl) decide(j *job, x *fetch.Exchange, doc *htmlmeta.Document) *Outcome {
	c.guesses.note(j.entry, x.Status)
	o := &Outcome{entry: j.entry, refetch: j.refetch, job: j, x: x, Visit: newVisit(j, x), via: c.via(j.entry.Via)}
	switch {
	case x.Err != nil:
		o.State, o.Reason = frontier.StateFailed, because(judge.Fetch, string(fetch.KindOf(x.Err)))
		o.Visit.Error = x.Err.Error()
		o.retry(c, j, passing(x.Err))
		return o
	case x.Unwanted:
		o.State, o.Reason = frontier.StateDisregarded, j.unwanted.Reason
		c.ledger.narrowed()
		return o
	case x.Status >= 300 && x.Status < 400 && x.Status != 304:
		o.State = frontier.StateFetched
		o.redirect(c, j, x, doc)
	case x.Status == 304 && j.conditional:
		o.State = frontier.StateFetched
	case x.Status >= 200 && x.Status < 300:
		o.State = frontier.StateFetched
	case j.entry.Class == frontier.Speculative && x.Status < 500 && x.Status != 429:
		o.State, o.Reason = frontier.StateDisregarded, answered(x.Status) // a guess that was wrong is nothing broken
	default:
		o.State, o.Reason = frontier.StateFailed, answered(x.Status)
		o.retry(c, j, x.Status == 429 || x.Status >= 500)
	}
	if x.Truncated == "disconnect" && o.State == frontier.StateFetched {
		o.State, o.Reason = frontier.StateFailed, because(judge.Fetch, "cut off by the server")
		o.retry(c, j, true)
	}
	o.describe(doc)
	o.keep(doc)
	o.block(c, j, doc)
	o.turnedAway(c, j, x)
	if x.Status == 304 && j.conditional {
		o.repeat(j.original)
	}
	o.suspect(c, j)
	_ = c.deduplicate(o) // asked again, and an error met, by the committer
	if o.State == frontier.StateFetched && x.Status < 300 && o.Visit.Suspect == "" {
		o.follow(c, j, doc)
	}
	return o
}

func newVisit(j *job, x *fetch.Exchange) *storage.Visit {
	v := &storage.Visit{
		URLID: j.entry.ID, N: j.n, URL: j.url.String(), Class: j.entry.Class.String(),
		At: x.Start.UTC(), Waited: j.waited, Delay: j.delay, Took: x.Total, Status: x.Status,
		Truncated: x.Truncated, Robots: j.allowed,
	}
	if x.Header != nil {
		v.ContentType = bounded(x.Header.Get("Content-Type"), 200)
		if age, ok := robotstxt.MaxAge(x.Header); ok {
			v.MaxAge = int(age.Seconds())
		}
		v.ETag = bounded(x.Header.Get("ETag"), 300)
		v.LastModified = bounded(x.Header.Get("Last-Modified"), 100)
	}
	return v
}

// bounded cuts text from the network that is only kept for people.
func bounded(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n]
}

// retry puts the URL off, if what failed may pass and tries are left.
func (o *Outcome) retry(c *Crawl, j *job, passing bool) {
	if !passing || j.entry.Attempts-j.before >= c.opts.Retries {
		return
	}
	wait := c.opts.RetryBase << (2 * min(j.entry.Attempts-j.before, 8))
	o.RetryAt = c.now().Add(wait)
}

func (o *Outcome) describe(doc *htmlmeta.Document) {
	v := o.Visit
	v.Charset, v.Title, v.Lang = doc.Charset, bounded(doc.Title, 500), bounded(doc.Lang, 40)
	v.Canonical = doc.Canonical.String()
	v.Links = len(doc.Links)
	v.Directives = directivesOf(&doc.Directives)
	d, n := o.x.PayloadDigests()
	v.Length = n
	v.Digest, v.SHA256 = warc.Digest(d.SHA1).String(), hex.EncodeToString(d.SHA256[:])
}

// keep decides what of the response may be kept (design: noarchive withholds
// the body altogether).
func (o *Outcome) keep(doc *htmlmeta.Document) {
	o.Visit.Kept = storage.KeptResponse
	if !doc.Directives.Archive {
		o.Visit.Kept = storage.KeptWithheld
		o.Visit.Digest, o.Visit.SHA256 = "", ""
		o.Visit.Title, o.Visit.Lang, o.Visit.Canonical = "", "", "" // they are of the body
	}
}

// repeat makes a 304 a revisit of the response that it speaks of.
func (o *Outcome) repeat(original *storage.Visit) {
	if o.Visit.Kept == storage.KeptResponse {
		o.Visit.Digest, o.Visit.SHA256 = original.Digest, original.SHA256
		o.refer(original)
	}
}

// redirect makes the target a link of its own.
func (o *Outcome) redirect(c *Crawl, j *job, x *fetch.Exchange, doc *htmlmeta.Document) {
	location := x.Header.Get("Location")
	target, err := j.url.Resolve(location)
	if location == "" || err != nil {
		o.State, o.Reason = frontier.StateFailed, judge.Reason{Rule: judge.Location, Params: judge.Params{Status: x.Status}}
		return
	}
	o.Visit.Location = target.String()
	if target == j.url {
		o.State, o.Reason = frontier.StateFailed, judge.Reason{Rule: judge.Location}
		return
	}
	if j.robots != nil {
		return // robots.txt follows its own redirects
	}
	if j.entry.IsSeed() {
		o.alias(c, j.url, target)
	}
	if j.entry.Class == frontier.Sitemap && doc.Directives.Follow {
		o.moved(c, j, target, j.entry.Redirects+1)
		return
	}
	link := frontier.Link{URL: target, Class: j.entry.Class, Depth: j.entry.Depth, Redirects: j.entry.Redirects + 1, How: redirectHow(j.entry)}
	o.Links = c.judge(o.Links, j.unlessFolded(target), link, c.facts(j, o, doc))
}

// unlessFolded is the job without its rules' Clean-param where that would
// fold a redirect's target into the URL that redirects: nothing would be left
// to fetch.
func (j *job) unlessFolded(target weburl.URL) *job {
	if j.rules == nil {
		return j
	}
	if folded, by := j.rules.Fold(target); by == nil || folded != j.url {
		return j
	}
	return &job{entry: j.entry, url: j.url, now: j.now, origin: j.origin}
}

// rulesFor are those whose Clean-param folds a link's target: its own origin's.
func (c *Crawl) rulesFor(j *job, u weburl.URL) *rules.Robots {
	if u.Origin() == j.url.Origin() {
		return j.rules
	}
	all := c.inForce.Load()
	if all == nil {
		return nil
	}
	return (*all)[u.Origin()]
}

// redirectHow keeps a seed's redirect a seed, so that a chain from http to
// https to www is followed to its end.
func redirectHow(e *frontier.Entry) judge.How {
	if e.IsSeed() {
		return judge.HowSeed
	}
	return judge.HowRedirect
}

// follow makes links of what the document names.
func (o *Outcome) follow(c *Crawl, j *job, doc *htmlmeta.Document) {
	f := c.facts(j, o, doc)
	f.Page.SameBody = c.seenBefore(o)
	for _, n := range c.frontier.Unknown(nil, len(doc.Links), func(i int) weburl.URL { return doc.Links[i].URL }) {
		l := &doc.Links[n.Index]
		class, ok := classOf(l)
		if !ok {
			continue
		}
		link := frontier.Link{URL: l.URL, Class: class, Via: j.entry.ID, Needed: class == frontier.Requisite, Aside: c.guesses.aside(l),
			Depth: j.entry.Depth + 1, How: judge.How(l.Tag + " " + l.Attr)}
		if n.Listed {
			if l.URL != j.url {
				o.Links = append(o.Links, link) // which tells the frontier that a link leads there
			}
			continue
		}
		f.Page.RelNoFollow = l.NoFollow
		o.Links = c.judgeNew(o.Links, j, link, f)
	}
	o.softNotFound(c, j, doc)
}

// maxBodies bounds what seenBefore remembers: payloads that came twice.
const maxBodies = 1 << 16

// seenBefore says whether so many pages had this very payload before that
// the links of one more are not followed: a soft 404, or a tree that mirrors
// itself.
func (c *Crawl) seenBefore(o *Outcome) bool {
	d := o.Visit.SHA256
	if c.opts.Traps.SameBody <= 0 || d == "" || o.original == nil || o.original.URLID == o.Visit.URLID {
		return false
	}
	return c.bodies.again(d) >= c.opts.Traps.SameBody
}

// bodies counts how often a payload came again. It is for any goroutine.
type bodies struct {
	mu sync.Mutex
	n  map[string]int // by SHA-256
}

func (b *bodies) again(d string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n == nil {
		b.n = map[string]int{}
	}
	if len(b.n) < maxBodies || b.n[d] > 0 {
		b.n[d]++
	}
	return b.n[d]
}

// facts are what the rules may know of the links of a document.
func (c *Crawl) facts(j *job, o *Outcome, doc *htmlmeta.Document) *judge.Facts {
	f := &judge.Facts{Settings: c.scope.Load(), Now: j.now, Guesses: &c.guesses, Page: judge.PageFacts{NoFollow: !doc.Directives.Follow}}
	if o.Alias != "" {
		f.Settings = f.Settings.With(o.Alias)
	}
	return f
}

// judge adds a link to the list, with the verdict on it, unless its URL is
// known and not only from a sitemap.
func (c *Crawl) judge(links []frontier.Link, j *job, l frontier.Link, f *judge.Facts) []frontier.Link {
	l.Via = j.entry.ID
	if !c.frontier.Known(l.URL) {
		return c.judgeNew(links, j, l, f)
	}
	if l.How != judge.HowSitemap && l.URL != j.url && c.frontier.Orphan(l.URL) {
		return append(links, l) // which tells the frontier that a link leads there
	}
	return links
}

// judgeNew adds a link to a URL that is not known, with the verdict on it, and
// the URL that stands for it in robots.txt.
func (c *Crawl) judgeNew(links []frontier.Link, j *job, l frontier.Link, f *judge.Facts) []frontier.Link {
	f.Rules = c.rulesFor(j, l.URL)
	v := judge.Decide(judge.Found, &l, f)
	switch {
	case v.Excludes():
		instead := l
		l.Exclude(v)
		links = append(links, l)
		if v.Instead.IsZero() || c.frontier.Known(v.Instead) {
			return links
		}
		l, f.Rules = instead, nil
		l.URL = v.Instead
		if v = judge.Decide(judge.Found, &l, f); v.Excludes() {
			l.Exclude(v)
		}
	case l.URL.Target() == rules.Location:
		l.Class = frontier.Prerequisite
	}
	return append(links, l)
}
