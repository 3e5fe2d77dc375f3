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

// Options of an export. Only Seed is required.
type Options struct {
	Seed     weburl.URL
	Origins  []string // the site's: those of the seed and its aliases, in one tree
	Complete bool     // the crawl has finished
	Why      string   // if not Complete, why
	Now      time.Time
	At       time.Time // use the copies that were current then; zero: the current ones
	MaxBody  int64     // bytes of one decoded file; 0: 1 GiB
	MaxBytes int64     // of the mirror; 0: 1 GiB plus 50 times the archived payloads
	MinFree  int64     // bytes to leave free on the disk (room.Check)
	// Online lets images, styles and scripts that are not in the archive load from the live
	// site. Otherwise nothing is loaded from elsewhere.
	Online bool
	// NoScripts stores all pages as sent, with scripts disabled.
	NoScripts bool
	// Still returns the HTML to store for a page with scripts disabled, nil for the page as
	// sent; ok is false if the page keeps its scripts. If Still is nil, unchanged pages stay as
	// the existing mirror has them.
	Still func(url string) (html []byte, ok bool, err error)
	// Fold applies the site's Clean-param to a URL, and reports whether it changed.
	Fold func(weburl.URL) (weburl.URL, bool)
	// Twin returns the common form of URLs that differ only in a session id, the order of
	// parameters or needless escapes, and reports whether the URL differs from it.
	Twin func(weburl.URL) (weburl.URL, bool)
	// Left yields the URLs that the crawl knows and did not fetch.
	Left func(func(Left) error) error
	// Broken returns the site's broken URLs.
	Broken func(context.Context) (*inventory.Targets, error)
	// Admits reports whether a capture with these preferences may be exported; nil: all may.
	Admits func(usage.Preferences) bool
	// Watch is called now and then with the progress.
	Watch func(Progress)

	twins   bool                                                       // Twin was given
	rewrite func(htmlmeta.Page, htmlmeta.Rewriting) htmlmeta.Rewritten // replaced in tests
}

// Left is a URL that the crawl knows and did not fetch, and why.
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
	Bytes       int64 // at the beginning: size of all bodies as sent
}

// ErrNotOurs means that the output directory holds something other than a mirror.
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
