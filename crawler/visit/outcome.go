package visit

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/revisit"
	"curtsy/crawler/robotstxt"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// Outcome is the decision on one URL (step 5), before anything is written. It is a plain value: the
// exchange's buffers belong to Records.
type Outcome struct {
	Entry   *frontier.Entry
	Refetch bool // a refetch: the URL's entry is already finished

	State   frontier.State
	Reason  judge.Reason
	RetryAt time.Time // not zero: retry then
	Visit   *crawllog.Visit
	Links   []frontier.Link
	Facts   []byte // the page's facts (package facts); nil: not worth keeping, or not all of it was read
	News

	round     int // number of the round, and when it began
	began     time.Time
	via       string              // the URL that linked here
	hops      string              // hop path from the seed
	original  *crawllog.Visit     // of a revisit: the response with the payload
	elsewhere *crawllog.Elsewhere // the capture in another archive that this one refers to
	rendered  *Rendered
	label     string // algorithm of the digests in records, as in storage.Options
	payload   string // payload digest in that algorithm; "": use that of the visit
}

// News is what a visit reveals about the site or the crawl besides its own URL.
type News struct {
	Names     judge.Names       // names of the site
	Robots    *robotstxt.Answer // result of a request for robots.txt
	UsageFile *UsageFile        // result of a request for a usage preference file
	LoggedOut string            // not "": why the login seems to have ended
	Again     uint64            // id of the page that led here, to be fetched again; 0: none
	Narrowed  bool              // a setting excluded what had been queued
	Notes     []string          // messages for the user, one line each
}

// Because returns a reason with a text.
func Because(rule, text string) judge.Reason {
	return judge.Reason{Rule: rule, Params: judge.Params{Text: text}}
}

// Answered returns the reason for a URL whose response status is not a success.
func Answered(status int) judge.Reason {
	return judge.Reason{Rule: judge.HTTP, Params: judge.Params{Status: status}}
}

// decide turns an exchange and its document into an outcome.
func (r *Reader) decide(a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) *Outcome {
	r.guesses.note(a.Entry, x.Status)
	o := &Outcome{Entry: a.Entry, Refetch: a.Refetch, round: a.Round, began: a.Began, Visit: newVisit(a, x)}
	from := r.via(a.Entry.Via, maxHops)
	o.via, o.hops = from.url, hopsOf(a.Entry, from)
	switch {
	case x.Err != nil && r.isProbe(a):
		o.State, o.Reason, o.Visit.Error = frontier.StateDisregarded, judge.Reason{Rule: judge.Host}, x.Err.Error()
		return o
	case x.Err != nil:
		o.State, o.Reason = frontier.StateFailed, Because(judge.Fetch, string(fetch.KindOf(x.Err)))
		o.Visit.Error = x.Err.Error()
		o.retry(r, a, passing(x.Err))
		return o
	case x.Unwanted:
		o.State, o.Reason, o.Narrowed = frontier.StateDisregarded, a.unwanted.Reason, true
		o.answersItself(r, a, x.Status)
		return o
	case a.lacksUsageFile(x.Status):
		o.State, o.Reason = frontier.StateDisregarded,
			judge.Reason{Rule: judge.NoUsageFile, Params: judge.Params{Status: x.Status}}
	case crawllog.IsRedirect(x.Status):
		o.State = frontier.StateFetched
		o.redirect(r, a, x, doc)
	case x.Status == 304 && a.Conditional:
		o.State = frontier.StateFetched
	case x.Status == 200, x.Status == 203, x.Status == 204, x.Status == 205:
		o.State = frontier.StateFetched
	case a.Entry.How == judge.HowGuess && x.Status < 500 && x.Status != 429:
		o.State, o.Reason = frontier.StateDisregarded,
			judge.Reason{Rule: judge.NoSitemap, Params: judge.Params{Status: x.Status}}
	case a.Entry.Class == frontier.Speculative && x.Status < 500 && x.Status != 429:
		o.State, o.Reason = frontier.StateDisregarded, Answered(x.Status) // a wrong guess is no broken link
		o.Reason.Text = judge.Guessed
	default:
		o.State, o.Reason = frontier.StateFailed, Answered(x.Status)
		// An incomplete success, such as an unrequested 206, may be complete later.
		o.retry(r, a, x.Status == 429 || x.Status >= 500 || x.Status < 300)
	}
	o.describe(r, a, x, doc)
	o.Visit.Usage = r.usageOf(a, x, doc)
	partial := o.State == frontier.StateFetched && o.partial(r, a)
	lasting := partial && o.RetryAt.IsZero() // no retries left: follow the links of what there is
	o.noteRendered(r, a, x, doc)
	o.keep(doc)
	o.block(r, a, x, doc)
	o.turnedAway(r, a, x)
	o.primary(a, x.Status)
	if x.Status == 304 && a.Conditional {
		o.repeat(a.Original)
	}
	o.suspect(r, a)
	_ = r.Deduplicate(o) // the committer repeats it and handles the error
	o.lookElsewhere(r, a, x)
	o.askWithCookie(r, a, x, doc)
	if to := o.leadsTo(a, x, doc); !to.IsZero() {
		if o.Visit.Kept != crawllog.KeptWithheld { // Location would reveal content of the body
			o.Visit.Location = to.String()
		}
		o.leadOn(r, a, to, doc)
	}
	o.notes(r, a, x)
	if (o.State == frontier.StateFetched && o.RetryAt.IsZero() || lasting) && x.Status < 300 && o.Visit.Suspect == "" {
		o.follow(r, a, x, doc)
	}
	return o
}

func newVisit(a *Attempt, x *fetch.Exchange) *crawllog.Visit {
	v := &crawllog.Visit{
		Asked: crawllog.Asked{URLID: a.Entry.ID, N: a.N, URL: a.URL.String(), Class: a.Entry.Class.String(),
			At: x.Start.UTC(), Waited: a.Waited, Delay: a.Delay, Took: x.Total},
		Answer:  crawllog.Answer{Status: x.Status},
		Payload: crawllog.Payload{Truncated: x.Truncated},
		Robots:  a.Allowed,
	}
	if x.Header != nil {
		v.ContentType = legible.First(x.Header.Get("Content-Type"), 200)
		if age, ok := robotstxt.MaxAge(x.Header); ok {
			v.MaxAge = int(age.Seconds())
		}
		v.ETag, v.LastModified = robotstxt.Validators(x.Header)
	}
	return v
}

// hasFacts reports whether facts are kept for the page.
func (o *Outcome) hasFacts() bool {
	return o.Visit.HasBody() && o.Visit.Status >= 200 && o.Visit.Status < 300
}

// retry schedules a retry if the failure may be temporary and retries are left.
func (o *Outcome) retry(r *Reader, a *Attempt, passing bool) {
	if !passing || a.Entry.Attempts-a.Before >= r.opts.Retries {
		return
	}
	o.RetryAt = r.opts.Now().Add(retryWait(a.Entry.Attempts-a.Before, r.opts.RetryBase))
}

// retryWait returns how long a URL waits after its n-th failure, counted from 0.
func retryWait(n int, base time.Duration) time.Duration { return base << (2 * min(n, 8)) }

// LongestRetry returns the longest wait of a URL for its next attempt.
func LongestRetry(retries int, base time.Duration) time.Duration {
	return max(retryWait(retries, base), suspectWait*base)
}

// partial turns an incomplete copy into a network failure, which is retried.
func (o *Outcome) partial(r *Reader, a *Attempt) bool {
	s := crawllog.StandingOf(o.Visit, nil)
	if o.Visit.Redirects() || s.Rank != crawllog.Partial {
		return false
	}
	why := s.Why
	if o.Visit.Truncated == "" { // Visit.Body has the details
		why = "the body cannot be decoded to its end"
	}
	o.State, o.Reason = frontier.StateFailed, Because(judge.Fetch, why)
	o.retry(r, a, true)
	return true
}

// bodyOf returns the value for crawllog.Visit.Body.
func (r *Reader) bodyOf(contentType string, x *fetch.Exchange, doc *htmlmeta.Document) string {
	if x.Truncated != "" || x.Status == http.StatusNotModified {
		return ""
	}
	if err := x.Verify(); err != nil {
		return legible.First(err.Error(), 200)
	}
	if _, n := x.PayloadDigest(); n == 0 {
		return crawllog.BodyEmpty
	}
	if Readable(contentType) {
		if body, cut, err := x.Decoded(r.opts.MaxParse); err == nil && !cut && isBlank(doc, body) {
			return crawllog.BodyEmpty
		}
	}
	return crawllog.BodyWhole
}

// maxBlank is the longest page, in octets, that is checked for showing nothing.
const maxBlank = 64 << 10

// isBlank reports whether a document shows nothing: only white space, or a page without text and without
// elements that could draw something.
func isBlank(doc *htmlmeta.Document, body []byte) bool {
	if len(bytes.TrimSpace(body)) == 0 {
		return true
	}
	if doc.Kind != htmlmeta.HTML || len(body) > maxBlank || len(doc.Links) > 0 || shownText(body) > len(doc.Title) {
		return false
	}
	lower := bytes.ToLower(body)
	for _, tag := range []string{"<script", "<svg", "<canvas", "<img", "<frame", "<iframe", "<object", "<embed",
		"<video", "<audio", "<form", "<input", "http-equiv"} {
		if bytes.Contains(lower, []byte(tag)) {
			return false
		}
	}
	return true
}

func (o *Outcome) describe(r *Reader, a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) {
	v := o.Visit
	v.Round = a.Round
	if v.Body = a.Body; !a.Replayed {
		v.Body = r.bodyOf(v.ContentType, x, doc)
	}
	v.Charset, v.Title, v.Lang = doc.Charset, legible.First(doc.Title, 500), legible.First(doc.Lang, 40)
	v.Canonical = doc.Canonical.String()
	v.Links = len(doc.Links)
	v.Directives = directivesOf(&doc.Directives)
	d, n := x.PayloadDigest()
	v.Length = n
	v.Digest = warc.Digest(d).String()
	if o.label = r.opts.Label; o.label == "" {
		return
	}
	h := warc.NewLabelled(o.label)
	payload, _ := x.Payload()
	_, _ = io.Copy(h, payload) // Check has read the file before
	o.payload = h.String()
}

// keep decides what of the response may be archived: noarchive withholds the body completely. A 304 has
// none: its record says that the earlier copies are withdrawn.
func (o *Outcome) keep(doc *htmlmeta.Document) {
	o.Visit.Kept = crawllog.KeptResponse
	if doc.Directives.NoArchive && o.Visit.Status != http.StatusNotModified {
		o.Visit.Kept = crawllog.KeptWithheld
		o.Visit.Digest, o.Visit.Rendered = "", nil
		o.Visit.Title, o.Visit.Lang, o.Visit.Canonical = "", "", "" // these are content of the body
	}
}

// repeat turns a 304 into a revisit of the response that it confirms.
func (o *Outcome) repeat(original *crawllog.Visit) {
	o.Visit.Digest = original.Digest
	o.refer(original)
}

// redirect adds the target as a link.
func (o *Outcome) redirect(r *Reader, a *Attempt, x *fetch.Exchange, doc *htmlmeta.Document) {
	location := x.Header.Get("Location")
	target, err := a.URL.Resolve(location)
	if location == "" || err != nil {
		o.State, o.Reason = frontier.StateFailed,
			judge.Reason{Rule: judge.Location, Params: judge.Params{Status: x.Status}}
		return
	}
	o.Visit.Location = target.String()
	if robots := r.rulesFor(a, target); robots != nil {
		if folded, by := robots.Fold(target); by != nil && folded != a.URL {
			o.Visit.Target = folded.String()
		}
	}
	if target == a.URL {
		o.State, o.Reason = frontier.StateFailed, judge.Reason{Rule: judge.Location}
		o.cookieWall(r, a, x)
		return
	}
	if a.Robots != nil {
		return // package robotstxt follows the redirects of robots.txt
	}
	if a.Entry.Class == frontier.Sitemap && !doc.Directives.NoFollow {
		_ = o.learnName(r, a, target)
		o.moved(r, a, target, a.Entry.Redirects+1)
		return
	}
	o.cookieGiver(r, a, x, target)
	o.leadOn(r, a, target, doc)
}

// leadOn adds the target of a redirect as a link.
func (o *Outcome) leadOn(r *Reader, a *Attempt, target weburl.URL, doc *htmlmeta.Document) {
	if !o.learnName(r, a, target) {
		return
	}
	link := frontier.Link{URL: target, Class: a.Entry.Class, Depth: a.Entry.Depth, Redirects: a.Entry.Redirects + 1,
		How: redirectHow(a.Entry)}
	if s := r.Scope(); s.Main(target) && s.AtPrimary(target) == a.URL {
		link.How = judge.HowOwnName // the primary name itself redirects there
	}
	o.Links = r.Judge(o.Links, a.unlessFolded(target), link, r.facts(a, o, doc))
}

// cookieGiver detects a redirect that sets a cookie and leads back to the page that led here; that page is
// then requested again with the cookie.
func (o *Outcome) cookieGiver(r *Reader, a *Attempt, x *fetch.Exchange, target weburl.URL) {
	if s := r.opts.Session; a.Entry.Redirects > 0 && target.String() == o.via && s != nil && s.wall(o.via, x) {
		o.tell("%s redirects to %s and back until the cookie of that is sent: cookies are kept from now on", target,
			a.URL)
		o.Again = a.Entry.Via
	}
}

// cookieWall distinguishes a page that redirects to itself to set a cookie from an endless redirect: it is
// requested again at once with the cookie. If no cookies are kept, the reason says what to do.
func (o *Outcome) cookieWall(r *Reader, a *Attempt, x *fetch.Exchange) {
	if len(x.Header["Set-Cookie"]) == 0 || a.Robots != nil {
		return
	}
	if s := r.opts.Session; s != nil && s.wall(a.URL.String(), x) {
		o.tell("%s redirects to itself until its cookie is sent back: cookies are kept from now on", a.URL)
		o.RetryAt = r.opts.Now()
		return
	} else if !r.opts.Cookies && (s == nil || !s.keeps()) {
		o.Reason.Params.Text = judge.WantsCookie
		return
	}
	if o.retry(r, a, true); !o.RetryAt.IsZero() {
		o.RetryAt = r.opts.Now()
	}
}

// redirectHow makes the target of a seed's redirect a seed, so that a chain from http to https to www is
// followed to its end.
func redirectHow(e *frontier.Entry) judge.How {
	if e.IsSeed() {
		return judge.HowSeed
	}
	return judge.HowRedirect
}

// passing reports whether a failure may be temporary.
func passing(err error) bool {
	switch fetch.KindOf(err) {
	case fetch.KindBlocked, fetch.KindProtocol, fetch.KindHead, fetch.KindInternal:
		return false
	}
	return true
}

func directivesOf(d *htmlmeta.Directives) *crawllog.Directives {
	if len(d.Sources) == 0 {
		return nil
	}
	said := d.Directives
	return &said
}

// Deduplicate turns the visit into a revisit if its payload is already archived.
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

// lookElsewhere refers to another archive for the payload if that is known to hold it. Payloads that later
// visits or the browser need are archived here all the same.
func (o *Outcome) lookElsewhere(r *Reader, a *Attempt, x *fetch.Exchange) {
	v := o.Visit
	if r.opts.Known == nil || a.Replayed || a.waitedFor() || v.Kept != crawllog.KeptResponse || v.Length == 0 ||
		v.Status != http.StatusOK ||
		v.Truncated != "" || v.Bare || v.Rendered != nil {
		return
	}
	label := ""
	found, err := r.opts.Known.Find(v.Digest, v.URL)
	if err == nil && found == nil && r.opts.Known.BySHA1() {
		if label = o.payload; label == "" {
			h := warc.NewLabelled(warc.LabelSHA1)
			payload, _ := x.Payload()
			_, _ = io.Copy(h, payload) // Check has read it before
			label = h.String()
		}
		found, err = r.opts.Known.Find(label, v.URL)
	}
	if err != nil {
		r.opts.Logger.Warn("what other archives hold cannot be read; the page is kept in full", "url",
			v.URL, "err", err)
	}
	if found != nil {
		v.Kept, o.elsewhere, o.payload = crawllog.KeptElsewhere, found, label
	}
}

func (o *Outcome) refer(original *crawllog.Visit) {
	if original.Record == nil { // crawl.db is damaged: there is nothing to refer to
		return
	}
	ref := original.Ref()
	o.Visit.Kept, o.Visit.Refers = crawllog.KeptRevisit, &ref
	o.original = original
}

// suspect decides whether a response is accepted as the page.
func (o *Outcome) suspect(r *Reader, a *Attempt) {
	if a.Good == nil || o.State != frontier.StateFetched || o.Visit.Status == http.StatusNotModified {
		return
	}
	o.Visit.Suspect = revisit.Suspicion(a.Good, o.Visit, r.Scope().Main)
	if o.Visit.Suspect != "" && a.Entry.Attempts == a.Before {
		o.RetryAt = r.opts.Now().Add(suspectWait * r.opts.RetryBase)
	}
}

// suspectWait is how long to wait, in units of Options.RetryBase, before a page with a suspect response
// is fetched once more.
const suspectWait = 12
