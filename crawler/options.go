package crawler

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/crawler/visit"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Options of a crawl.
type Options struct {
	Seed   weburl.URL
	Scope  judge.Scope // its origins are added by the crawl
	Traps  judge.Traps
	Limits Limits
	Given  Given
	Names
	Round *revisit.Options // visit again what is known; nil goes on with what is queued
	SiteFiles

	Rules       rules.Options
	RelNofollow bool // rel=nofollow stops a link

	Pace  politeness.Options
	Fetch fetch.Options
	Cookies
	Retry
	MaxParse int64 // octets of a decoded body that are read for links; 0 is 16 MiB

	Rendering

	Archive storage.Options
	Remembered
	Hooks
}

// SiteFiles and Retry say which files of the site are read, and how often a failed visit is retried.
type (
	SiteFiles = visit.SiteFiles
	Retry     = visit.Retry
)

// Cookies are those of sessions.
type Cookies struct {
	// SessionCookies uses the jar of Fetch.Cookies only for a site that puts the ids
	// of sessions into its links otherwise, once a request has shown that it helps.
	SessionCookies bool
	session        *visit.Session // that jar
}

// Rendering is which pages a browser renders.
type Rendering struct {
	Render  RenderMode
	Browser Browser // closed with the crawl; nil renders nothing
}

// Remembered is what the archive keeps of the settings.
type Remembered struct {
	Settings any // for resume and people
	// Public is what of the settings every segment may tell whoever gets it; of
	// it, settings come back when crawl.db is rebuilt. It must hold no secrets.
	Public any
}

// Hooks are how a crawl and the program around it speak with each other.
type Hooks struct {
	Now    func() time.Time // the clock; nil is time.Now
	Logger *slog.Logger
	// Gate is asked before each request, those for robots.txt and sitemaps,
	// redirects and further tries included; see fetch.Options. With an error
	// nothing is sent, and the run ends as Stopped; the URL stays queued.
	Gate func(ctx context.Context, host string, addr netip.Addr) error
	// OnVisit is called with each visit that a commit has made durable, in the
	// order of commits, by one goroutine. A kill right after a commit costs its
	// calls: whoever must see each visit reads the archive once more at the
	// start. An error ends the run and is Run's.
	OnVisit func(ctx context.Context, v *crawllog.Visit) error
	// OnCommit is called after each commit, before OnVisit, by the same goroutine.
	OnCommit func(Commit)
	// CommitEvery is how long visits wait for others to be committed with while there
	// is more to fetch; 0 commits one that comes alone at once. A kill costs those
	// that wait, and two syncs of the disk are saved for each of them.
	CommitEvery time.Duration
	// StatusEvery is the least time between two writings of status.json; 0 is a
	// second.
	StatusEvery time.Duration
	// Steer, where it is not nil, brings what is wanted while the crawl runs.
	Steer <-chan Steering
	// Known finds payloads in other archives, which are not kept again; nil finds none.
	Known visit.Known
	Watch func(status.Status) // told about every second what goes on; may be nil
	Tell  func(string)        // told what a person should know, in a line; nil logs it
}

// Commit is one commit that is durable: when it began, and how long it took.
type Commit struct {
	Began  time.Time
	Took   time.Duration
	Visits []*crawllog.Visit // valid during the call
}

// Names are the site's, beside those that its redirects tell.
type Names struct {
	FollowSeed bool     // wherever the seed redirects to is the site
	Aliases    []string // hosts that are other names of the site
	AllowHosts []string // hosts that may be at private addresses if the seed is
	apart      []string // origins that might be names of the site and are not
}

// Limits end a crawl early; zero values are no limits. The URLs that are left
// stay queued.
type Limits struct {
	Pages int           // pages fetched, in the life of the archive or in the round
	Bytes int64         // octets of payloads, in the life of the archive or in the round
	Time  time.Duration // of one run
}

// WithDefaults fills in what was left zero.
func (o Options) WithDefaults() Options {
	if o.MaxRobotsAge == 0 {
		o.MaxRobotsAge = o.Rules.Dialect.MaxAge()
	}
	o.RetryBase = cmp.Or(o.RetryBase, 5*time.Second)
	o.MaxParse = cmp.Or(o.MaxParse, 16<<20)
	o.Pace.Concurrency = max(o.Pace.Concurrency, 1)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.SessionCookies && o.session == nil && o.Fetch.Cookies != nil {
		o.session = visit.NewSession(o.Fetch.Cookies)
		o.Fetch.Cookies = o.session
	}
	if o.Fetch.Now == nil {
		o.Fetch.Now = o.Now // the end of a download and what follows go by one clock
	}
	o.SitemapHosts = cmp.Or(o.SitemapHosts, 5)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Tell == nil {
		o.Tell = func(text string) { o.Logger.Info(text) }
	}
	return o
}

// Session is what was found of the site's sessions; nil as long as nothing was.
func (o *Options) Session() *status.Session { return o.session.Found() }

// longestRetry is the longest that a URL waits for its next visit.
func (o *Options) longestRetry() time.Duration { return visit.LongestRetry(o.Retries, o.RetryBase) }

// SegmentInfo is what every segment says of the crawl that it is of.
type SegmentInfo struct {
	Seed     string `json:"seed"`
	Settings any    `json:"settings,omitempty"`
}

// Ending is how a run ended.
type Ending int

// Endings of a run.
const (
	Done        Ending = iota // nothing is left
	Limited                   // a limit was reached
	Stopped                   // asked to stop, or could not go on; can be resumed
	Refused                   // robots.txt denies the seed or is unavailable
	Unreachable               // no request of the site was ever answered
	DiskFull                  // the disk refused a write; can be resumed
)

// Result of a run.
type Result struct {
	Ending Ending
	Why    string // in words
	Denied bool   // with Refused, robots.txt denies the seed; else it is unavailable
	Limit  string // with Limited, the one that was reached: "max-pages", "max-bytes", "max-time"
	// Err is, with DiskFull, what the disk said; with Unreachable, an UnreachableError; with
	// Refused, why there was no answer, if there was none.
	Err    error
	State  status.State
	Counts frontier.Counts
}

// Judging is what links are judged with, of a crawl that begins.
func (o *Options) Judging() *judge.Settings {
	s := &judge.Settings{Scope: o.Scope, Traps: o.Traps}
	s.Origins = append([]string{o.Seed.Origin()}, o.aliases()...)
	return s
}

// aliases are the origins of the hosts that are named as the site's: by http and
// https where the seed is at a usual port, else at its own.
func (o *Options) aliases() (origins []string) {
	port := strings.TrimPrefix(o.Seed.Host(), o.Seed.Hostname())
	for _, host := range o.Aliases {
		origins = append(origins, o.Seed.Scheme()+"://"+host+port)
		if port == "" {
			origins = append(origins, map[string]string{"http": "https", "https": "http"}[o.Seed.Scheme()]+"://"+host)
		}
	}
	return origins
}

// allowed are the hosts that may be at private addresses if the seed is: those that
// are named, those of the site, and the seed's own with www. or without.
func (o *Options) allowed(origins []string) []string {
	hosts := append([]string{judge.SiteHost(o.Seed.Hostname())}, o.AllowHosts...)
	hosts = append(hosts, "www."+hosts[0])
	for _, origin := range origins {
		hosts = append(hosts, weburl.FromCanonical(origin+"/").Hostname())
	}
	return hosts
}

// Visiting is how answers are read. admit says whether one more host that is not
// the site's may be asked for a sitemap, most of them in all.
func (o *Options) Visiting(settings *judge.Settings, admit func(host string, most int) bool) visit.Options {
	return visit.Options{Seed: o.Seed, Settings: settings, Rules: o.Rules, SiteFiles: o.SiteFiles, Retry: o.Retry,
		Label: o.Archive.Label, Language: o.Fetch.Header.Get("Accept-Language"), FollowSeed: o.FollowSeed,
		Apart: o.apart, RelNofollow: o.RelNofollow, Cookies: o.Fetch.Cookies != nil && o.session == nil,
		Session: o.session, MaxParse: o.MaxParse, Now: o.Now, Logger: o.Logger, Admit: admit, Known: o.Known}
}
