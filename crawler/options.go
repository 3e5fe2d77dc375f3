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

// Options are the settings of a crawl.
type Options struct {
	Seed   weburl.URL
	Scope  judge.Scope // the crawl adds the origins
	Traps  judge.Traps
	Limits Limits
	Given  Given
	Names
	Round *revisit.Options // visits known URLs again; nil continues with the queued ones
	SiteFiles

	Rules       rules.Options
	RelNofollow bool // links with rel=nofollow are not followed

	Pace  politeness.Options
	Fetch fetch.Options
	Cookies
	Retry
	MaxParse int64 // octets of a decoded body that are parsed for links; 0 is 16 MiB

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

// Cookies are the settings for session cookies.
type Cookies struct {
	// SessionCookies uses the jar of Fetch.Cookies only for a site that otherwise puts session
	// ids into its links, once a request has shown that cookies prevent that.
	SessionCookies bool
	session        *visit.Session // wraps the jar of Fetch.Cookies
}

// Rendering says which pages are rendered, and by which browser.
type Rendering struct {
	Render  RenderMode
	Browser Browser // closed with the crawl; nil renders nothing
}

// Remembered is what the archive stores of the settings.
type Remembered struct {
	Settings any // stored in crawl.db, for resume and status
	// Public is stored in every segment, so whoever gets a segment can read it: it must hold no
	// secrets. Rebuilding crawl.db restores the settings from it.
	Public any
}

// Hooks connect the crawl and the calling program.
type Hooks struct {
	Now    func() time.Time // the clock; nil is time.Now
	Logger *slog.Logger
	// Gate is called before each request, including robots.txt, sitemaps, redirects and retries;
	// see fetch.Options. If it returns an error, nothing is sent and the run ends as Stopped;
	// the URL stays queued.
	Gate func(ctx context.Context, host string, addr netip.Addr) error
	// OnVisit is called for each visit after its commit, in the order of commits, from one
	// goroutine. A kill right after a commit loses its calls: a caller that must see every
	// visit reads the archive again at the start. An error ends the run and is returned by Run.
	OnVisit func(ctx context.Context, v *crawllog.Visit) error
	// OnCommit is called after each commit, before OnVisit, by the same goroutine.
	OnCommit func(Commit)
	// CommitEvery is how long visits wait to be committed together while there is more to
	// fetch; 0 commits a single visit at once. A kill loses the visits that wait; each commit
	// saved saves two syncs of the disk.
	CommitEvery time.Duration
	// StatusEvery is the least time between two writes of status.json; 0 is one second.
	StatusEvery time.Duration
	// Steer, if not nil, delivers commands to the running crawl.
	Steer <-chan Steering
	// Known finds payloads in other archives, which are not stored again; nil finds none.
	Known visit.Known
	Watch func(status.Status) // called about once a second with the progress; may be nil
	Tell  func(string)        // called with one-line messages for the user; nil logs them
}

// Commit describes one durable commit.
type Commit struct {
	Began  time.Time
	Took   time.Duration
	Visits []*crawllog.Visit // valid during the call
}

// Names are names of the site, besides those that its redirects reveal.
type Names struct {
	FollowSeed bool     // the site to which the seed redirects is crawled, whichever it is
	Aliases    []string // hosts that are further names of the site
	AllowHosts []string // hosts that may have private addresses if the seed has one
	apart      []string // origins that were tried as names of the site and are separate
}

// Limits end a run early; a zero value is no limit. The remaining URLs stay queued.
type Limits struct {
	Pages int           // pages fetched, in the life of the archive or in the round
	Bytes int64         // octets of payloads, in the life of the archive or in the round
	Time  time.Duration // of one run
}

// WithDefaults replaces zero values by the defaults.
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
		o.Fetch.Now = o.Now // both must use the same clock
	}
	o.SitemapHosts = cmp.Or(o.SitemapHosts, 5)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Tell == nil {
		o.Tell = func(text string) { o.Logger.Info(text) }
	}
	return o
}

// Session returns what is known of the site's sessions; nil if nothing is.
func (o *Options) Session() *status.Session { return o.session.Found() }

// longestRetry returns the longest wait of a URL for its next attempt.
func (o *Options) longestRetry() time.Duration { return visit.LongestRetry(o.Retries, o.RetryBase) }

// SegmentInfo is the description of the crawl in the warcinfo record of each segment.
type SegmentInfo struct {
	Seed     string `json:"seed"`
	Settings any    `json:"settings,omitempty"`
}

// Ending is how a run ended.
type Ending int

// Endings of a run.
const (
	Done        Ending = iota // no URL is left
	Limited                   // a limit was reached
	Stopped                   // stopped on request or by an error; can be resumed
	Refused                   // robots.txt denies the seed or is unavailable
	Unreachable               // no request of this run got a response from the site
	DiskFull                  // the disk refused a write; can be resumed
)

// Result is the result of a run.
type Result struct {
	Ending Ending
	Why    string // in words
	Denied bool   // with Refused: robots.txt denies the seed; else it is unavailable
	Limit  string // with Limited, the limit reached: "max-pages", "max-bytes", "max-time"
	// Err is the disk's error with DiskFull, an UnreachableError with Unreachable, and with
	// Refused why robots.txt got no response, if it got none.
	Err    error
	State  status.State
	Counts frontier.Counts
}

// Judging returns the settings by which a new crawl judges links.
func (o *Options) Judging() *judge.Settings {
	s := &judge.Settings{Scope: o.Scope, Traps: o.Traps}
	s.Origins = append([]string{o.Seed.Origin()}, o.aliases()...)
	return s
}

// aliases returns the origins of Options.Aliases: with http and https if the seed has a default port,
// else with the seed's scheme and port.
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

// allowed returns the hosts that may have private addresses if the seed has one: AllowHosts, the
// site's, and the seed's host with and without "www.".
func (o *Options) allowed(origins []string) []string {
	hosts := append([]string{judge.SiteHost(o.Seed.Hostname())}, o.AllowHosts...)
	hosts = append(hosts, "www."+hosts[0])
	for _, origin := range origins {
		hosts = append(hosts, weburl.FromCanonical(origin+"/").Hostname())
	}
	return hosts
}

// Visiting returns the options for processing responses. admit reports whether one more host outside
// the site, of at most most, may be asked for a sitemap.
func (o *Options) Visiting(settings *judge.Settings, admit func(host string, most int) bool) visit.Options {
	return visit.Options{Seed: o.Seed, Settings: settings, Rules: o.Rules, SiteFiles: o.SiteFiles, Retry: o.Retry,
		Label: o.Archive.Label, Language: o.Fetch.Header.Get("Accept-Language"), FollowSeed: o.FollowSeed,
		Apart: o.apart, RelNofollow: o.RelNofollow, Cookies: o.Fetch.Cookies != nil && o.session == nil,
		Session: o.session, MaxParse: o.MaxParse, Now: o.Now, Logger: o.Logger, Admit: admit, Known: o.Known}
}
