package cli

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/crawler/status"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

// fails reports whether --fail-fast stops at a visit: one of a page or requisite that failed
// and will not be retried.
func fails(v *crawllog.Visit, retries int) bool {
	if v.Class != judge.Page.String() && v.Class != judge.Requisite.String() {
		return false
	}
	if v.Status == 0 || v.Status == http.StatusTooManyRequests || v.Status >= 500 {
		return v.N > retries
	}
	return v.Status >= 400
}

// again returns the command that continues a crawl.
func (c *config) again() string {
	command := "curtsy resume " + quoted(c.Archive)
	if c.Signed {
		command += " --identity " + quoted(c.Fetch.Identity)
	}
	if c.LoggedIn != "" {
		command += " with " + c.LoggedIn + " anew"
	}
	return command
}

// seedError returns the error of a crawl that ended without its seed. If other pages were
// fetched, f.others is set.
func (f *crawlFlags) seedError(cr *crawler.Crawl, c *config, seed weburl.URL) error {
	failed, err := cr.SeedFailure()
	switch {
	case err != nil:
		return archiveError(err, c.Archive)
	case failed == nil:
		return f.givenError(cr, c.Archive)
	case !failed.Elsewhere.IsZero():
		what := "nothing was fetched"
		if failed.Others {
			what = "the seed was not fetched"
		}
		f.others = failed.Others
		return exitWith(exitFailed, fmt.Errorf("%s: %s", what, failed.Why),
			c.command(seed)+" --follow-seed, if that is the site")
	}
	try := "another URL, or the same command later: it asks again"
	if failed.Refused {
		try = c.askOwner()
	}
	f.others = failed.Others
	if failed.Others {
		failed.Why += "; " + c.Archive + " has the other pages"
	}
	return exitWith(exitFailed, fmt.Errorf("the seed itself failed: %s", failed.Why), try)
}

// givenError reports the additional URLs that failed.
func (f *crawlFlags) givenError(cr *crawler.Crawl, dir string) error {
	failed, err := cr.GivenFailures()
	if err != nil {
		return archiveError(err, dir)
	}
	if len(failed) == 0 {
		return nil
	}
	f.others = true
	what := plural(len(failed), "a URL that was given failed", "URLs that were given failed")
	return exitWith(exitFailed, fmt.Errorf("%s: %s", what, strings.Join(failed, "; ")),
		"other URLs; "+dir+" has the other pages")
}

// askOwner returns the hint for a site that rejects the crawler.
func (c *config) askOwner() string {
	return "ask the site's owner to let " + userAgent(c) + " in, in the firewall and by a group \"User-agent: " +
		c.Agent +
		"\" in robots.txt; it never poses as a browser. Then the same command"
}

// command returns the command of this crawl, to be run again.
func (c *config) command(seed weburl.URL) string {
	text := "curtsy crawl " + quoted(seed.String())
	for _, flag := range []struct{ name, value, usual string }{
		{"archive", c.Archive, seed.Host()}, {"contact", c.Contact, ""}, {"ca", c.Fetch.CA, ""},
		{"identity", c.Fetch.Identity, ""},
	} {
		if flag.value != flag.usual {
			text += " --" + flag.name + " " + quoted(flag.value)
		}
	}
	return text
}

// result prints how a run ended, unless it had nothing to do.
func (u *ui) result(f *crawlFlags, r crawler.Result) {
	s := r.State
	n, pages := r.Counts.OfSite(), 0
	if s.Holds != nil {
		pages = s.Holds.Pages
	}
	if f.json {
		u.json(struct {
			State       string         `json:"state"`
			Why         string         `json:"why"`
			Discovered  int            `json:"discovered"`
			Queued      int            `json:"queued"`
			Fetched     int            `json:"fetched"`
			Failed      int            `json:"failed"`
			Disregarded int            `json:"disregarded"`
			Bytes       int64          `json:"bytes"`
			Pages       int            `json:"pages"`
			Rules       map[string]int `json:"rules"`
			Reasons     []judge.Count  `json:"reasons"`
		}{r.Ending.String(), r.Why, n.Discovered, n.Queued(), n.Fetched, n.Failed, n.Disregarded, s.Bytes, pages,
			n.Reasons.Rules(), n.Reasons.Largest(status.ShownReasons)})
		return
	}
	if r.Why != "" && r.Ending != crawler.Unreachable {
		what := r.Why
		if endingError(r, "", "") != nil { // the error says why
			what = r.Ending.String()
		}
		u.say("%s: %d fetched, %d failed, %d skipped, %d queued; %s in %s", what, n.Fetched, n.Failed,
			n.Disregarded, n.Queued(),
			legible.Bytes(s.Bytes), s.Elapsed.Round(time.Millisecond))
	}
	if s.Bare > 0 {
		u.say("nearly empty without scripts, which were not run: %d of %s; what they show and link to is unknown; "+
			"try --render auto with another --archive", s.Bare, legible.Count(pages, "page"))
	}
}

// endingError returns an error with the exit code of an ending; nil for a finished crawl.
func endingError(r crawler.Result, resume, dir string) error {
	switch r.Ending {
	case crawler.Limited:
		return exitWith(exitStopped, errors.New(r.Why), resume+beyond(r.Limit))
	case crawler.Stopped:
		return exitWith(exitStopped, errors.New(r.Why), resume)
	case crawler.DiskFull:
		return exitWith(exitStopped, errors.New(r.Why), diskHint(r.Err, dir, stillToCome(r, dir))+", then "+resume)
	case crawler.Unreachable:
		return exitWith(exitFailed, r.Err, unreachableHint(r.Err))
	case crawler.Refused:
		err := refused(r.Why, r.Denied, resume)
		if fetch.KindOf(r.Err) == fetch.KindBlocked {
			err.try = resume + " --follow-seed (the site is where its seed leads), or --allow-host with that host"
		}
		return err
	}
	return nil
}

// beyond returns the flag that lets a crawl continue after it reached a limit: resume keeps
// limits, except that of time, which applies to each run.
func beyond(limit string) string {
	if limit == "max-pages" || limit == "max-bytes" {
		return " --" + limit + " 0 (no limit), or another"
	}
	return ""
}

// unreachableHint returns a hint if no request was answered.
func unreachableHint(err error) string {
	var u *crawler.UnreachableError
	switch {
	case errors.Is(err, fetch.ErrNoAnswer) && errors.As(err, &u) && u.URL.Scheme() == "http":
		return "https:// instead of http://"
	case errors.Is(err, fetch.ErrNoTLS):
		return "http:// instead of https://"
	case errors.Is(err, fetch.ErrUntrusted):
		return "--ca FILE with the issuing authority, if the certificate is your own " +
			"(verification cannot be turned off), or http:// if the site is not served by https"
	}
	return "another URL, or this one later"
}

// refused says that robots.txt denies the seed, or is unavailable, which disallows everything
// for now (RFC 9309 §2.3.1.4).
func refused(why string, denied bool, again string) *exitError {
	said, try := "robots.txt is unavailable, and without it nothing is fetched", again+", later"
	if denied {
		said = "the site does not allow it"
		try = "ask its owner for a group \"User-agent: curtsy\" in robots.txt, then " + again
	}
	return &exitError{exitRefused, fmt.Errorf("%s: %s", said, why), try}
}
