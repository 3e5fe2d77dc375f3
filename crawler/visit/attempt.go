package visit

import (
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"curtsy/crawler/revisit"
	"curtsy/crawler/robotstxt"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage/crawllog"
)

// Earlier is the round of an attempt, and the visits before it.
type Earlier struct {
	Original *crawllog.Visit // the response that a conditional request refers to
	Good     *crawllog.Visit // the last good visit, in a round
	Before   int             // visits of the URL before the round
	Round    int             // number of the round; 0: the first crawl
	Began    time.Time       // when the round began
}

// Kept describes an archived visit that is processed again.
type Kept struct {
	Replayed bool
	HeadOnly bool   // read only the document's head; its links are read later
	Body     string // crawllog.Visit.Body
}

// Attempt is one visit to be made, and what is known about its URL.
type Attempt struct {
	Entry       *frontier.Entry
	URL         weburl.URL // the entry's, except after redirects of robots.txt
	N           int        // number of the visit among those of the URL
	Refetch     bool       // the entry is already finished
	Header      http.Header
	Conditional bool
	Earlier
	Kept
	Robots   *robotstxt.Request // not nil: a request for robots.txt, with the attempt's URL and conditions
	Rules    *rules.Robots      // rules in force at the origin, for Clean-param
	Allowed  *crawllog.Decision
	Waited   time.Duration
	Delay    string // the reason for the length of the pause
	Now      time.Time
	Rendered *Rendered // the rendered page; nil if it was not rendered
	Read     *Reading  // what Ahead or Shell has read; nil if neither

	heavy    *sync.Mutex   // not nil: locked by this attempt
	unwanted judge.Verdict // the verdict on the response head
	broken   error         // not nil: a panic while the response arrived
}

// waitedFor reports whether the visit is to a robots.txt or a sitemap, for which the pages of its origin
// wait.
func (a *Attempt) waitedFor() bool {
	return a.Entry.Class == frontier.Prerequisite || a.Entry.Class == frontier.Sitemap
}

// GoesFirst reports whether other visits at its origin wait for this one to be committed: they depend on
// robots.txt, on sitemaps, and on which name of the site is the primary one.
func (a *Attempt) GoesFirst() bool {
	return a.waitedFor() || a.Entry.IsSeed() || a.Entry.How == judge.HowName
}

// isListing reports whether the response is read as a robots.txt or a sitemap.
func (a *Attempt) isListing() bool { return a.Robots != nil || a.Entry.Class == frontier.Sitemap }

// Done unlocks the reading of large documents.
func (a *Attempt) Done() {
	if a.heavy != nil {
		a.heavy.Unlock()
		a.heavy = nil
	}
}

// Recall loads the earlier visits of a URL that a round visits again, and makes the request conditional on
// the last good one (RFC 9110 §13.1).
func (r *Reader) Recall(a *Attempt, round int, began time.Time) {
	defer r.caught(a)
	a.Round, a.Began = round, began
	if a.Robots != nil || a.N < 2 {
		return
	}
	visits, err := r.archive.VisitsOf(a.Entry.ID, maxRecalled)
	if err != nil {
		return // the committer meets the error again
	}
	for _, v := range visits {
		if v.At.Before(began) {
			a.Before = max(a.Before, v.N)
		}
	}
	good := revisit.Good(visits)
	for good != nil && !revisit.Decodes(r.archive, good) {
		visits = visits[:slices.Index(visits, good)]
		good = revisit.Good(visits)
	}
	if good == nil {
		return
	}
	a.Good = good
	if good.Refers != nil {
		if good, err = r.archive.Visit(*good.Refers); err != nil || good == nil {
			return
		}
	}
	if good.Kept != crawllog.KeptResponse || a.Good.URL != a.URL.String() {
		return
	}
	a.Condition(good, a.Good.ETag, a.Good.LastModified)
}

// Condition makes the request conditional on the archived response held, if there is one with a
// validator (RFC 9110 §13.1).
func (a *Attempt) Condition(held *crawllog.Visit, etag, lastModified string) {
	h := http.Header{}
	if etag != "" && len(etag) < maxValidator {
		h.Set("If-None-Match", etag)
	}
	if lastModified != "" {
		h.Set("If-Modified-Since", lastModified)
	}
	if held != nil && len(h) > 0 {
		a.Header, a.Conditional, a.Original = h, true, held
	}
}

// maxRecalled is how many visits of a URL are searched for the last good one. An ETag of maxValidator
// octets or more may have been truncated.
const (
	maxRecalled  = 50
	maxValidator = 300
)

// Wanted returns a function that decides by the response head whether the body is to be read; nil if no
// rule would exclude it.
func (r *Reader) Wanted(a *Attempt) func(status int, h http.Header) bool {
	settings := r.Scope()
	if r.isProbe(a) {
		return func(status int, _ http.Header) bool {
			a.unwanted.Reason = judge.Reason{Rule: judge.Host}
			return status >= 300 && status < 400
		}
	}
	if a.waitedFor() || a.Entry.IsSeed() || len(settings.SkipTypes) == 0 && settings.SkipLarger == 0 {
		return nil
	}
	return func(status int, h http.Header) bool {
		if status < 200 || status > 299 {
			return true
		}
		f := &judge.Facts{Settings: settings, Now: a.Now, Answer: judge.Answer{Type: h.Get("Content-Type"), Length: -1}}
		if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil {
			f.Answer.Length = n
		}
		a.unwanted = judge.Decide(judge.Answered, &a.Entry.Link, f)
		return !a.unwanted.Excludes()
	}
}
