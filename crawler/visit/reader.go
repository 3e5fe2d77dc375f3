// Package visit answers: what does an exchange tell of its URL? It takes
// steps 4 and 5 of a visit. Nothing is written here, and nothing is scheduled:
// what comes out is an Outcome, a plain value, and the Records, which the crawl commits
// and releases.
//
//	attempt.go   what is to be asked, and what is known of the URL
//	hold.go      how the body is held while it comes
//	read.go      what the document says
//	outcome.go   what becomes of the URL
//	links.go     which of its links may be queued
//	usage.go     what is said about the use of what came
//	robots.go, sitemap.go, alias.go, challenge.go, login.go, session.go, soft404.go
//	             what is special about some answers
//	encode.go    the records that are to be committed
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

// Options are how answers are read.
type Options struct {
	Seed     weburl.URL
	Settings *judge.Settings // what links are judged with, to begin with
	Rules    rules.Options
	SiteFiles
	Retry
	Label       string   // of the digests in records, as in storage.Options
	Language    string   // that is asked for (Accept-Language); "" where none is
	FollowSeed  bool     // wherever the seed redirects to is the site
	Apart       []string // origins that might be names of the site and are not
	RelNofollow bool     // rel=nofollow stops a link
	Cookies     bool     // are kept
	Session     *Session // where they are kept only if that helps; nil elsewhere
	MaxParse    int64    // octets of a decoded body that are read for links
	Now         func() time.Time
	Logger      *slog.Logger
	// Admit says whether a host that is not the site's may be asked for a sitemap, most of
	// them in all.
	Admit func(origin string, most int) bool
	Known Known // finds payloads in other archives; nil finds none
}

// SiteFiles are those in which a site speaks about itself: which are asked for, and when.
type SiteFiles struct {
	MaxRobotsAge time.Duration // robots.txt is fetched again after this; 0 is what the dialect says
	UsageFiles   bool          // ask for those about use, as tdmrep.json
	Since        time.Time     // pages of sitemaps that were last changed before are left out; zero is none
	GuessSitemap bool          // ask for /sitemap.xml where robots.txt names none
	SitemapHosts int           // others that are asked for sitemaps, in the life of the archive; 0 is 5, below 0 none
}

// Retry is how often a visit is tried again that failed for a passing reason.
type Retry struct {
	Retries   int
	RetryBase time.Duration // before the first of these; four times as long before each next
}

// Known finds payloads in other archives.
type Known interface {
	// Find is a capture of a payload, by its labelled digest, best of the same URL; nil if
	// none is known.
	Find(digest, url string) (*crawllog.Elsewhere, error)
	// BySHA1 says whether to ask by SHA-1 too.
	BySHA1() bool
}

// Reader reads answers, and knows what visits learn from each other. It is for
// any goroutine.
type Reader struct {
	opts     Options
	frontier *frontier.Frontier
	archive  *storage.Archive

	scope   atomic.Pointer[judge.Settings]
	inForce atomic.Pointer[map[string]*rules.Robots] // by origin; never changed, but replaced
	heavy   sync.Mutex                               // held while a large document is read

	look    lookalikes
	bodies  tally // payloads that came twice
	guesses guesses
	logins  logins
	nested  atomic.Int64 // sitemaps that indexes within indexes named
	vias    vias
	probes  tally // URLs that were asked for to learn whether an origin is a name of the site
	files   usageFiles
}

// NewReader makes a Reader for a crawl over an archive and its frontier, of
// which it changes neither.
func NewReader(a *storage.Archive, f *frontier.Frontier, o Options) *Reader {
	r := &Reader{opts: o, frontier: f, archive: a, guesses: guesses{shapes: map[string]guessed{}}}
	for _, origin := range o.Apart {
		r.probes.add(origin, decidedOrigin)
	}
	r.scope.Store(o.Settings)
	return r
}

// Scope is what links are judged with now.
func (r *Reader) Scope() *judge.Settings { return r.scope.Load() }

// Learn takes in what a visit told of the site's names. One goroutine at a time may.
func (r *Reader) Learn(n judge.Names) { r.scope.Store(r.Scope().With(n)) }

// Facts are what the rules may know of any URL.
func (r *Reader) Facts() *judge.Facts {
	return &judge.Facts{Settings: r.Scope(), Guessed: r.guesses.count, Now: r.opts.Now()}
}

// Enforce puts the rules of an origin of the site in force for the links that
// lead there. One goroutine at a time may.
func (r *Reader) Enforce(origin string, robots *rules.Robots) {
	all := map[string]*rules.Robots{origin: robots}
	if had := r.inForce.Load(); had != nil {
		all = maps.Clone(*had)
		all[origin] = robots
	}
	r.inForce.Store(&all)
}

// Outcome reads the response (step 4) and decides (step 5). Until a.Done is
// called, a large document keeps others waiting. A panic, here or while the answer
// came, is the failure of this URL alone: the next page, the next run and the next
// worker would meet it again.
func (r *Reader) Outcome(a *Attempt, x *fetch.Exchange) *Outcome {
	if a.broken == nil {
		if o := r.outcome(a, x); o != nil {
			return o
		}
	}
	return r.failed(a, x, a.broken)
}

// caught is deferred where an answer is read: a panic breaks the attempt. That of a
// crawl.db which proves damaged is not the URL's, and goes on.
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

// panicked is the error that a panic, in a function deferred where that was caught, is.
func panicked(cause any) error { return fmt.Errorf("%v\n%s", cause, debug.Stack()) }

// failed is the outcome of a visit in which the program itself failed. The log has
// all of why, the archive the first line.
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

// Unwritten is failed for a visit whose records could not be made.
func (r *Reader) Unwritten(a *Attempt, w *Records, why error) *Outcome { return r.failed(a, w.x, why) }

// outcome is nil where the attempt breaks.
func (r *Reader) outcome(a *Attempt, x *fetch.Exchange) (o *Outcome) {
	defer r.caught(a)
	if a.Entry.Class == frontier.Sitemap { // up to 50 MB, read whole
		r.occupy(a)
	}
	x.Check()
	read := a.Read
	if read == nil || x.Err != nil { // what Check found came after it
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

// occupy lets no other large document be read until the attempt is done.
func (r *Reader) occupy(a *Attempt) {
	if a.heavy == nil {
		r.heavy.Lock()
		a.heavy = &r.heavy
	}
}

// reading is for whom documents are read.
func (r *Reader) reading() htmlmeta.Options {
	return htmlmeta.Options{Agents: r.opts.Rules.Agents, IgnoreRelNofollow: !r.opts.RelNofollow}
}
