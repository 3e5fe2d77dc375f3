// Package visit evaluates an exchange: it does steps 4 and 5 of a visit. It writes nothing and schedules
// nothing. Its results are an Outcome, a plain value, and Records, which the crawl commits and releases.
//
//	attempt.go   the request to make, and what is known of the URL
//	hold.go      how the body is held while it arrives
//	read.go      parsing the document
//	outcome.go   the decision on the URL
//	links.go     which of its links may be queued
//	usage.go     statements on the use of the content
//	robots.go, sitemap.go, alias.go, challenge.go, login.go, session.go, soft404.go
//	             special kinds of responses
//	encode.go    the WARC records
package visit

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/facts"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Options are how responses are evaluated.
type Options struct {
	Seed     weburl.URL
	Settings *judge.Settings // the initial settings for judging links
	Rules    rules.Options
	SiteFiles
	Retry
	Label       string   // digest algorithm in records, as in storage.Options
	Language    string   // the Accept-Language requested; "" for none
	FollowSeed  bool     // the site to which the seed redirects is crawled, whichever it is
	Apart       []string // origins that were tried as names of the site and are separate
	RelNofollow bool     // links with rel=nofollow are not followed
	Cookies     bool     // cookies are kept
	Session     *Session // keeps cookies only if that helps; nil: not used
	MaxParse    int64    // octets of a decoded body that are parsed for links
	Now         func() time.Time
	Logger      *slog.Logger
	// Admit reports whether a host outside the site may be asked for a sitemap; at most most such
	// hosts may.
	Admit func(origin string, most int) bool
	Known Known // finds payloads in other archives; nil finds none
}

// SiteFiles says which files about the site itself are fetched, and when.
type SiteFiles struct {
	MaxRobotsAge time.Duration // after which robots.txt is fetched again; 0 is the dialect's default
	UsageFiles   bool          // fetch files with usage preferences, such as tdmrep.json
	Since        time.Time     // leave out pages of sitemaps with an older lastmod; zero is none
	GuessSitemap bool          // fetch /sitemap.xml if robots.txt names no sitemap
	SitemapHosts int           // other hosts asked for sitemaps, in the life of the archive; 0 is 5, below 0 none
}

// Retry says how often a visit with a temporary failure is repeated.
type Retry struct {
	Retries   int
	RetryBase time.Duration // wait before the first retry; each further wait is four times as long
}

// Known finds payloads in other archives.
type Known interface {
	// Find returns a capture with a labelled payload digest, preferably one of the same URL; nil if
	// none is known.
	Find(digest, url string) (*crawllog.Elsewhere, error)
	// BySHA1 reports whether Find should also be called with a SHA-1 digest.
	BySHA1() bool
}

// Reader evaluates responses, and holds what visits learn from each other. It is safe for concurrent use.
type Reader struct {
	opts     Options
	frontier *frontier.Frontier
	archive  *storage.Archive

	scope   atomic.Pointer[judge.Settings]
	inForce atomic.Pointer[map[string]*rules.Robots] // by origin; the map is replaced, never modified
	heavy   sync.Mutex                               // locked while a large document is processed

	look    lookalikes
	bodies  tally // payload digests that occurred repeatedly
	guesses guesses
	logins  logins
	nested  atomic.Int64 // sitemaps named by indexes within indexes
	vias    vias
	probes  tally // URLs fetched per origin to find out whether it is a name of the site
	files   usageFiles
}

// NewReader makes a Reader for a crawl. It changes neither the archive nor the frontier.
func NewReader(a *storage.Archive, f *frontier.Frontier, o Options) *Reader {
	r := &Reader{opts: o, frontier: f, archive: a, guesses: guesses{shapes: map[string]guessed{}}}
	for _, origin := range o.Apart {
		r.probes.add(origin, decidedOrigin)
	}
	r.scope.Store(o.Settings)
	return r
}

// Scope returns the present settings for judging links.
func (r *Reader) Scope() *judge.Settings { return r.scope.Load() }

// Learn adds what a visit revealed about the site's names. Calls must not be concurrent.
func (r *Reader) Learn(n judge.Names) { r.scope.Store(r.Scope().With(n)) }

// Facts returns what the rules may know about any URL.
func (r *Reader) Facts() *judge.Facts {
	return &judge.Facts{Settings: r.Scope(), Guessed: r.guesses.count, Now: r.opts.Now()}
}

// Enforce puts the rules of an origin of the site in force for links that lead there. Calls must not be
// concurrent.
func (r *Reader) Enforce(origin string, robots *rules.Robots) {
	all := map[string]*rules.Robots{origin: robots}
	if had := r.inForce.Load(); had != nil {
		all = maps.Clone(*had)
		all[origin] = robots
	}
	r.inForce.Store(&all)
}

// Outcome reads the response (step 4) and decides (step 5). After a large document, others wait until
// a.Done is called. A panic, here or while the response arrived, fails this URL only, since it would
// recur with every retry.
func (r *Reader) Outcome(a *Attempt, x *fetch.Exchange) *Outcome {
	if a.broken == nil {
		if o := r.outcome(a, x); o != nil {
			return o
		}
	}
	return r.failed(a, x, a.broken)
}

// caught is deferred while a response is processed: a panic marks the attempt as broken. A panic because
// of a damaged crawl.db is passed on.
func (r *Reader) caught(a *Attempt) {
	cause := recover()
	var damage *storage.DamageError
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.As(err, &damage) {
		panic(cause)
	}
	a.broken = panicked(cause)
}

// panicked turns a recovered panic into an error with the stack. It must be called from the deferred
// function.
func panicked(cause any) error { return fmt.Errorf("%v\n%s", cause, debug.Stack()) }

// failed returns the outcome of a visit in which the program failed. The full cause is logged; the archive
// gets its first line.
func (r *Reader) failed(a *Attempt, x *fetch.Exchange, why error) *Outcome {
	r.opts.Logger.Error("internal error: please report it", "url", a.URL.String(), "cause", why)
	line, _, _ := strings.Cut(why.Error(), "\n")
	x.Fail(fetch.KindInternal, errors.New(line))
	o := r.decide(a, x, &htmlmeta.Document{})
	if a.Robots != nil {
		o.Robots = &robotstxt.Answer{Failed: string(fetch.KindInternal), Err: x.Err, Lasting: true}
	}
	return o
}

// Unwritten returns the outcome of a visit whose records could not be encoded.
func (r *Reader) Unwritten(a *Attempt, w *Records, why error) *Outcome { return r.failed(a, w.x, why) }

// outcome returns nil if the attempt breaks.
func (r *Reader) outcome(a *Attempt, x *fetch.Exchange) (o *Outcome) {
	defer r.caught(a)
	if a.Entry.Class == frontier.Sitemap { // up to 50 MB, read completely
		r.occupy(a)
	}
	x.Check()
	read := a.Read
	if read == nil || x.Err != nil { // Check may have failed after the body was read
		read = r.read(a, x)
	}
	doc, length, whole := read.doc, read.length, read.whole
	shown := *doc
	if made := r.join(a, x, doc); made != nil {
		shown, length = *made, len(a.Rendered.HTML)
	}
	d := r.decide(a, x, doc)
	if whole && d.hasFacts() {
		d.Facts = facts.Of(a.URL, &shown, length)
	}
	if a.Robots != nil {
		r.outcomeOfRobots(d, a, x)
	}
	if a.Entry.How == judge.HowProbe {
		d.answered(r, a, x)
	}
	switch {
	case a.Entry.How == judge.HowUsageFile:
		r.outcomeOfUsageFile(d, a, x)
	case (a.Entry.Class == frontier.Sitemap || d.isListing(a, x)) && x.Err == nil && x.Status == 200:
		r.outcomeOfSitemap(d, a, x)
	}
	return d
}

// occupy blocks other large documents until a.Done.
func (r *Reader) occupy(a *Attempt) {
	if a.heavy == nil {
		r.heavy.Lock()
		a.heavy = &r.heavy
	}
}

// reading returns the options for reading documents.
func (r *Reader) reading() htmlmeta.Options {
	return htmlmeta.Options{Agents: r.opts.Rules.Agents, IgnoreRelNofollow: !r.opts.RelNofollow}
}
