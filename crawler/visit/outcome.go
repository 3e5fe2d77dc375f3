package visit

import (
	"net/http"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/revisit"
	"curtsy/crawler/robotstxt"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Outcome is what became of one URL: a plain value, decided (step 5) before
// anything is written.
type Outcome struct {
	Entry   *frontier.Entry
	Refetch bool // a robots.txt fetched again: its URL is finished already

	State     frontier.State
	Reason    judge.Reason
	RetryAt   time.Time // not zero: to be visited again then
	Visit     *crawllog.Visit
	Links     []frontier.Link
	Alias     string            // an origin that the seed's redirect, or Host, makes part of the scope
	Robots    *robotstxt.Answer // to a request for a robots.txt
	LoggedOut string            // not "": why the login seems to have ended
	Narrowed  bool              // a setting excluded what had been queued
	Notes     []string          // what a person should know, a line each

	x        *fetch.Exchange
	round    int // that it was visited in, and when that began
	began    time.Time
	via      string          // the URL that led here
	original *crawllog.Visit // who holds the payload of a revisit
	rendered *Rendered
	records
}

// Because is a reason with a text.
func Because(rule, text string) judge.Reason {
	return judge.Reason{Rule: rule, Params: judge.Params{Text: text}}
}

// Answered is the reason of a URL whose answer has a status that is no success.
func Answered(status int) judge.Reason {
	return judge.Reason{Rule: judge.HTTP, Params: judge.Params{Status: status}}
}

// decide turns an exchange and what its document says into an outcome.
func (r *Reader) decide(a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) *Outcome {
	r.guesses.note(a.Entry, x.Status)
	o := &Outcome{Entry: a.Entry, Refetch: a.Refetch, x: x, round: a.Round, began: a.Began, Visit: newVisit(a, x), via: r.via(a.Entry.Via)}
	switch {
	case x.Err != nil:
		o.State, o.Reason = frontier.StateFailed, Because(judge.Fetch, string(fetch.KindOf(x.Err)))
		o.Visit.Error = x.Err.Error()
		o.retry(r, a, passing(x.Err))
		return o
	case x.Unwanted:
		o.State, o.Reason, o.Narrowed = frontier.StateDisregarded, a.unwanted.Reason, true
		return o
	case x.Status >= 300 && x.Status < 400 && x.Status != 304:
		o.State = frontier.StateFetched
		o.redirect(r, a, x, doc)
	case x.Status == 304 && a.Conditional:
		o.State = frontier.StateFetched
	case x.Status >= 200 && x.Status < 300:
		o.State = frontier.StateFetched
	case a.Entry.How == judge.HowGuess && x.Status < 500 && x.Status != 429:
		o.State, o.Reason = frontier.StateDisregarded, judge.Reason{Rule: judge.NoSitemap, Params: judge.Params{Status: x.Status}}
	case a.Entry.Class == frontier.Speculative && x.Status < 500 && x.Status != 429:
		o.State, o.Reason = frontier.StateDisregarded, Answered(x.Status) // a guess that was wrong is nothing broken
	default:
		o.State, o.Reason = frontier.StateFailed, Answered(x.Status)
		o.retry(r, a, x.Status == 429 || x.Status >= 500)
	}
	cutOff := x.Truncated == "disconnect" && o.State == frontier.StateFetched
	if cutOff {
		o.State, o.Reason = frontier.StateFailed, Because(judge.Fetch, "cut off by the server")
		o.retry(r, a, true)
	}
	lasting := cutOff && o.RetryAt.IsZero() // no more of it is to be had: what is there leads on
	o.describe(doc)
	o.noteRendered(r, a, doc)
	o.keep(doc)
	o.block(r, a, doc)
	o.turnedAway(r, a, x)
	if x.Status == 304 && a.Conditional {
		o.repeat(a.Original)
	}
	o.suspect(r, a)
	_ = r.Deduplicate(o) // asked again, and an error met, by the committer
	o.askWithCookie(r, a, x, doc)
	if (o.State == frontier.StateFetched && o.RetryAt.IsZero() || lasting) && x.Status < 300 && o.Visit.Suspect == "" {
		o.follow(r, a, doc)
	}
	return o
}

func newVisit(a *Attempt, x *fetch.Exchange) *crawllog.Visit {
	v := &crawllog.Visit{
		URLID: a.Entry.ID, N: a.N, URL: a.URL.String(), Class: a.Entry.Class.String(),
		At: x.Start.UTC(), Waited: a.Waited, Delay: a.Delay, Took: x.Total, Status: x.Status,
		Truncated: x.Truncated, Robots: a.Allowed,
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
func (o *Outcome) retry(r *Reader, a *Attempt, passing bool) {
	if !passing || a.Entry.Attempts-a.Before >= r.opts.Retries {
		return
	}
	o.RetryAt = r.opts.Now().Add(retryWait(a.Entry.Attempts-a.Before, r.opts.RetryBase))
}

// retryWait is how long a URL waits after its nth failure, n from 0.
func retryWait(n int, base time.Duration) time.Duration { return base << (2 * min(n, 8)) }

// LongestRetry is the longest that a URL waits for its next visit.
func LongestRetry(retries int, base time.Duration) time.Duration {
	return max(retryWait(retries, base), suspectWait*base)
}

func (o *Outcome) describe(doc *htmlmeta.Document) {
	v := o.Visit
	v.Charset, v.Title, v.Lang = doc.Charset, bounded(doc.Title, 500), bounded(doc.Lang, 40)
	v.Canonical = doc.Canonical.String()
	v.Links = len(doc.Links)
	v.Directives = directivesOf(&doc.Directives)
	d, n := o.x.PayloadDigest()
	v.Length = n
	v.Digest = warc.Digest(d).String()
}

// keep decides what of the response may be kept (design: noarchive withholds
// the body altogether).
func (o *Outcome) keep(doc *htmlmeta.Document) {
	o.Visit.Kept = crawllog.KeptResponse
	if !doc.Directives.Archive {
		o.Visit.Kept = crawllog.KeptWithheld
		o.Visit.Digest, o.Visit.Rendered = "", nil
		o.Visit.Title, o.Visit.Lang, o.Visit.Canonical = "", "", "" // they are of the body
	}
}

// repeat makes a 304 a revisit of the response that it speaks of.
func (o *Outcome) repeat(original *crawllog.Visit) {
	if o.Visit.Kept == crawllog.KeptResponse {
		o.Visit.Digest = original.Digest
		o.refer(original)
	}
}

// redirect makes the target a link of its own.
func (o *Outcome) redirect(r *Reader, a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) {
	location := x.Header.Get("Location")
	target, err := a.URL.Resolve(location)
	if location == "" || err != nil {
		o.State, o.Reason = frontier.StateFailed, judge.Reason{Rule: judge.Location, Params: judge.Params{Status: x.Status}}
		return
	}
	o.Visit.Location = target.String()
	if target == a.URL {
		o.State, o.Reason = frontier.StateFailed, judge.Reason{Rule: judge.Location}
		o.cookieWall(r, a, x)
		return
	}
	if a.Robots != nil {
		return // robotstxt follows the redirects of a robots.txt
	}
	if a.Entry.IsSeed() {
		o.alias(r, a.URL, target)
	}
	if a.Entry.Class == frontier.Sitemap && doc.Directives.Follow {
		o.moved(r, a, target, a.Entry.Redirects+1)
		return
	}
	link := frontier.Link{URL: target, Class: a.Entry.Class, Depth: a.Entry.Depth, Redirects: a.Entry.Redirects + 1, How: redirectHow(a.Entry)}
	o.Links = r.Judge(o.Links, a.unlessFolded(target), link, r.facts(a, o, doc))
}

// cookieWall tells a redirect to itself that sets a cookie from one that has no
// end: with the cookie it is asked for once more, at once. The reason says what
// to do where none are kept.
func (o *Outcome) cookieWall(r *Reader, a *Attempt, x *fetch.Exchange) {
	if len(x.Header["Set-Cookie"]) == 0 || a.Robots != nil {
		return
	}
	if !r.opts.Cookies {
		o.Reason.Params.Text = judge.WantsCookie
		return
	}
	if o.retry(r, a, true); !o.RetryAt.IsZero() {
		o.RetryAt = r.opts.Now()
	}
}

// redirectHow keeps a seed's redirect a seed, so that a chain from http to
// https to www is followed to its end.
func redirectHow(e *frontier.Entry) judge.How {
	if e.IsSeed() {
		return judge.HowSeed
	}
	return judge.HowRedirect
}

// passing says whether a failure may be gone at the next try.
func passing(err error) bool {
	switch fetch.KindOf(err) {
	case fetch.KindBlocked, fetch.KindProtocol, fetch.KindHead:
		return false
	}
	return true
}

func directivesOf(d *htmlmeta.Directives) *crawllog.Directives {
	if len(d.Sources) == 0 {
		return nil
	}
	s := &crawllog.Directives{NoIndex: !d.Index, NoFollow: !d.Follow, NoArchive: !d.Archive,
		NoImageIndex: !d.ImageIndex, NoTranslate: !d.Translate}
	if d.MaxSnippet >= 0 {
		s.MaxSnippet = &d.MaxSnippet
	}
	if !d.UnavailableAfter.IsZero() {
		s.UnavailableAfter = &d.UnavailableAfter
	}
	for _, src := range d.Sources {
		s.Sources = append(s.Sources, crawllog.Source{Directive: src.Directive, From: src.From, Text: src.Text})
	}
	return s
}

// Deduplicate makes the visit a revisit when its payload is held already.
func (r *Reader) Deduplicate(o *Outcome) error {
	v := o.Visit
	if v.Kept != crawllog.KeptResponse || v.Length == 0 {
		return nil
	}
	original, err := r.archive.Original(v.Digest)
	if err != nil || original == nil || original.Ref() == v.Ref() { // itself, in a rebuild
		return err
	}
	o.refer(original)
	return nil
}
func (o *Outcome) refer(original *crawllog.Visit) {
	ref := original.Ref()
	o.Visit.Kept, o.Visit.Refers = crawllog.KeptRevisit, &ref
	o.original = original
	o.members = nil // they are of a response
}

// suspect decides whether what came is taken for the page.
func (o *Outcome) suspect(r *Reader, a *Attempt) {
	if a.Good == nil || o.State != frontier.StateFetched || o.Visit.Status == http.StatusNotModified {
		return
	}
	body, _, err := o.x.Decoded(r.opts.MaxParse)
	if err != nil {
		return
	}
	home := weburl.FromCanonical(r.opts.Seed.Origin() + "/")
	o.Visit.Suspect = revisit.Suspicion(a.Good, o.Visit, body, home)
	if o.Visit.Suspect != "" && a.Entry.Attempts == a.Before {
		o.RetryAt = r.opts.Now().Add(suspectWait * r.opts.RetryBase)
	}
}

// suspectWait is how long a suspect answer is given to pass, in units of
// Options.RetryBase, before the page is asked for once more.
const suspectWait = 12
