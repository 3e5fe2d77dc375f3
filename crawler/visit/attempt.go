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

// Earlier is the round that an attempt is made in, and what came before it.
type Earlier struct {
	Original *crawllog.Visit // the response that a conditional request refers to
	Good     *crawllog.Visit // the last good visit, in a round
	Before   int             // visits of the URL before the round
	Round    int             // its number; 0: the first crawl
	Began    time.Time       // when it did
}

// Kept is of a visit that was made and is read again.
type Kept struct {
	Replayed bool
	HeadOnly bool   // the page shows enough to be one: only its head is read, its links are left for later
	Body     string // crawllog.Visit.Body
}

// Attempt is one visit to be made, and what is known of its URL.
type Attempt struct {
	Entry       *frontier.Entry
	URL         weburl.URL // the entry's, but for redirects of robots.txt
	N           int        // which visit of the URL
	Refetch     bool       // the entry is finished already
	Header      http.Header
	Conditional bool
	Earlier
	Kept
	Robots   *robotstxt.Request // not nil: robots.txt is asked for; its URL and conditions are those of the attempt
	Rules    *rules.Robots      // in force at the host, for Clean-param
	Allowed  *crawllog.Decision
	Waited   time.Duration
	Delay    string // why the pause was so long
	Now      time.Time
	Rendered *Rendered // what a browser made of the page; nil where none did
	Read     *Reading  // what Ahead or Shell read; nil: nothing did

	heavy    *sync.Mutex   // held
	unwanted judge.Verdict // on the head of the answer
	broken   error         // not nil: the program failed while the answer came
}

// waitedFor says whether the visit is to a robots.txt or a sitemap, which
// pages of its origin wait for.
func (a *Attempt) waitedFor() bool {
	return a.Entry.Class == frontier.Prerequisite || a.Entry.Class == frontier.Sitemap
}

// GoesFirst says whether other visits to its origin wait until it is committed: they
// depend on its robots.txt, its sitemaps, and on which name of the site it is.
func (a *Attempt) GoesFirst() bool {
	return a.waitedFor() || a.Entry.IsSeed() || a.Entry.How == judge.HowName
}

// isListing says whether what comes is read as a robots.txt or a sitemap.
func (a *Attempt) isListing() bool { return a.Robots != nil || a.Entry.Class == frontier.Sitemap }

// Done lets other large documents be read.
func (a *Attempt) Done() {
	if a.heavy != nil {
		a.heavy.Unlock()
		a.heavy = nil
	}
}

// Recall finds the earlier visits of a URL that a round asks for again: the
// request is made conditional on the last good one (RFC 9110 §13.1), verbatim.
func (r *Reader) Recall(a *Attempt, round int, began time.Time) {
	defer r.caught(a)
	a.Round, a.Began = round, began
	if a.Robots != nil || a.N < 2 {
		return
	}
	visits, err := r.archive.VisitsOf(a.Entry.ID, maxRecalled)
	if err != nil {
		return // the committer meets it again
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

// Condition makes the request one for what is not as in a response that is held, if there
// is one and a validator of it (RFC 9110 §13.1).
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

// maxRecalled is how many visits of a URL are looked at for the last good one,
// maxValidator the length from which on an ETag may have been cut.
const (
	maxRecalled  = 50
	maxValidator = 300
)

// Wanted asks the rules about the head of an answer, which may spare its body;
// nil where no rule would.
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
