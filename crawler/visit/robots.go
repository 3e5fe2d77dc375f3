package visit

import (
	"time"

	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/storage/crawllog"
)

// outcomeOfRobots interprets the response to a request for robots.txt and decides whether its URL is done.
func (r *Reader) outcomeOfRobots(o *Outcome, a *Attempt, x *fetch.Exchange) {
	q := *a.Robots
	q.URL, q.Conditional = a.URL, a.Conditional
	o.Robots = robotstxt.Read(q, x, robotstxt.Options{Rules: r.opts.Rules, MaxAge: r.opts.MaxRobotsAge})
	if o.Visit.Kept == crawllog.KeptWithheld && o.Robots.Version.Digest != "" {
		o.Robots.OnlyRules(r.opts.Rules)
	}
	o.RetryAt, o.Links = time.Time{}, nil
	if o.Robots.Version.Used && o.State == frontier.StateFailed { // there is no robots.txt (RFC 9309 §2.3.1.3)
		o.State, o.Reason = frontier.StateFetched, judge.Reason{}
	}
	// After a redirect or a failure the URL's entry stays as it was: it is fetched again.
	o.Refetch = o.Refetch || !o.Robots.Version.Used
	from := robotstxt.URL(a.Robots.Origin)
	if !o.Robots.Version.Used || o.Robots.Rules == nil || !r.Scope().Holds(from) {
		return
	}
	o.hostLine(r, a, from, o.Robots.Rules)
	r.addUsageFiles(o, a, from)
	how := judge.HowSitemapLine
	if len(o.Robots.Rules.Sitemaps()) == 0 {
		how = judge.HowGuess
	}
	for _, s := range r.sitemapsOf(o.Robots, from) {
		o.Links = r.addSitemap(o.Links, a, frontier.Link{URL: s, How: how})
	}
}
