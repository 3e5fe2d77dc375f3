package mirror

import (
	"context"
	"errors"
	"time"

	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish/inventory"
	"curtsy/usage"
)

// Options of an export. Only Seed is needed.
type Options struct {
	Seed     weburl.URL
	Origins  []string // the site's: the seed's and its aliases; one tree for all
	Complete bool     // the crawl has ended by itself
	Why      string   // if not, why not
	Now      time.Time
	At       time.Time // the copies that stood then; zero: those that stand now
	MaxBody  int64     // bytes of one file, decoded; 0 is 1 GiB
	MaxBytes int64     // of the mirror; 0 is 1 GiB and 50 times what the archive holds
	MinFree  int64     // bytes of the disk that stay free (room.Check)
	// Online leaves pictures, styles and scripts that the archive does not
	// hold pointing to the live site. Else nothing is loaded from anywhere.
	Online bool
	// NoScripts keeps all pages as they came: their scripts do not run.
	NoScripts bool
	// Still gives the document that a page is to have without its scripts, nil for the
	// page as it came; ok is false for a page that keeps its scripts. nil: as in the
	// mirror that is there, for pages that have not changed since.
	Still func(url string) (html []byte, ok bool, err error)
	// Fold gives the URL that the site's Clean-param makes of another one.
	Fold func(weburl.URL) (weburl.URL, bool)
	// Twin gives the form that all URLs of one page share which differ in a
	// session id, in the order of their parameters or in needless escapes, and
	// whether this URL is another one.
	Twin func(weburl.URL) (weburl.URL, bool)
	// Left calls back with what the crawl knows of and did not fetch.
	Left func(func(Left) error) error
	// Broken gives the site's broken URLs.
	Broken func(context.Context) (*inventory.Targets, error)
	// Admits says whether what has these preferences may be given away; nil is all.
	Admits func(usage.Preferences) bool
	// Watch is told how far the export is, now and then.
	Watch func(Progress)

	twins   bool                                                       // there is a Twin
	rewrite func(htmlmeta.Page, htmlmeta.Rewriting) htmlmeta.Rewritten // tests put in one that fails
}

// Left is a URL that the crawl knows of and did not fetch, and why.
type Left struct {
	URL    string
	State  string
	Reason judge.Reason
	How    string // how it was found: "a href", "sitemap"
}

// Progress of an export.
type Progress struct {
	Step        string // "begin", "write", "check"
	Done, Total int
	Bytes       int64 // at the beginning: of all bodies, as the site sent them
}

// ErrNotOurs says that OUT holds what no mirror of ours has put there.
var ErrNotOurs = errors.New("not a mirror made by curtsy")

func (o *Options) defaults() {
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.MaxBody <= 0 {
		o.MaxBody = 1 << 30
	}
	if len(o.Origins) == 0 {
		o.Origins = []string{o.Seed.Origin()}
	}
	if o.Fold == nil {
		o.Fold = func(u weburl.URL) (weburl.URL, bool) { return u, false }
	}
	o.twins = o.Twin != nil
	if !o.twins {
		o.Twin = func(u weburl.URL) (weburl.URL, bool) { return u, false }
	}
	if o.Admits == nil {
		o.Admits = func(usage.Preferences) bool { return true }
	}
	if o.Left == nil {
		o.Left = func(func(Left) error) error { return nil }
	}
	if o.Broken == nil {
		o.Broken = func(context.Context) (*inventory.Targets, error) { return new(inventory.Targets), nil }
	}
	if o.rewrite == nil {
		o.rewrite = htmlmeta.Rewrite
	}
	if o.Watch == nil {
		o.Watch = func(Progress) {}
	}
}
