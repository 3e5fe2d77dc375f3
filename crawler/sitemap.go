package crawler

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/sitemap"
)

// sitemapsOf are the sitemaps that a robots.txt names, else /sitemap.xml
// where guessing is on.
func (c *Crawl) sitemapsOf(r *robotsFetch, j *job) []weburl.URL {
	base := robotstxt.URL(r.origin.name)
	var urls []weburl.URL
	for _, s := range r.Rules.Sitemaps() {
		u, err := base.Resolve(s.URL)
		if err != nil {
			c.opts.Logger.Warn("robots.txt names a sitemap that is no URL", "line", s.Line, "sitemap", s.URL)
			continue
		}
		urls = append(urls, u)
	}
	if len(urls) == 0 && c.opts.GuessSitemap {
		if u, err := base.Resolve("/sitemap.xml"); err == nil {
			urls = append(urls, u)
		}
	}
	return urls
}

// addSitemap adds a sitemap to the links, unless it is known. Hosts that are
// not the site's are asked too, for the URLs of the site that they list, but
// only SitemapHosts of them: a robots.txt may name thousands.
func (c *Crawl) addSitemap(links []frontier.Link, j *job, l frontier.Link) []frontier.Link {
	if c.frontier.Known(l.URL) || l.URL.Target() == rules.Location {
		return links
	}
	l.Via = j.entry.ID
	if l.Class = frontier.Sitemap; l.Reason.IsZero() && !c.scope.Load().Holds(l.URL) && !c.ledger.admitted(l.URL.Origin(), c.opts.SitemapHosts) {
		l.Reason = judge.Reason{Rule: judge.SitemapHosts, Params: judge.Params{Limit: max(c.opts.SitemapHosts, 0)}}
	}
	if !l.Reason.IsZero() {
		l.Class, l.Soft = frontier.Disregarded, true
	}
	return append(links, l)
}

// notNamed is the reason against a sitemap on another host that neither the
// site nor that host itself names.
func (c *Crawl) notNamed(by, u weburl.URL) judge.Reason {
	scope := c.scope.Load()
	if scope.Holds(by) || scope.Holds(u) || by.Hostname() == u.Hostname() {
		return judge.Reason{}
	}
	return judge.Reason{Rule: judge.Host}
}

// moved is where a sitemap redirects to, which may be on its own host though
// that is not the site's.
func (o *Outcome) moved(c *Crawl, j *job, to weburl.URL, redirects int) {
	if redirects > maxSitemapMoves {
		return
	}
	l := frontier.Link{URL: to, Depth: j.entry.Depth, Redirects: redirects, How: redirectHow(j.entry)}
	if l.Reason = c.notNamed(j.url, to); c.scope.Load().Holds(j.url) && !c.scope.Load().Holds(to) && to.Hostname() != j.url.Hostname() {
		l.Reason = judge.Reason{Rule: judge.Host}
	}
	o.Links = c.addSitemap(o.Links, j, l)
}

// outcomeOfSitemap makes links of what a sitemap lists: the URLs in the order
// of their priority and of their last change, so that the queue is.
func (c *Crawl) outcomeOfSitemap(o *Outcome, j *job, x *fetch.Exchange) {
	body, _, err := x.Decoded(MaxSitemap)
	if err != nil && len(body) == 0 {
		o.State, o.Reason = frontier.StateFailed, because(judge.BadSitemap, err.Error())
		return
	}
	var pages []sitemap.Entry
	o.Links = nil
	summary, err := sitemap.Read(bytes.NewReader(body), j.url, func(e sitemap.Entry, child bool) error {
		if !child {
			pages = append(pages, e)
			return nil
		}
		if u, err := j.url.Resolve(e.Loc); err == nil && j.entry.Depth < MaxSitemapDepth && !c.frontier.Known(u) {
			o.Links = c.addSitemap(o.Links, j, c.childSitemap(j, u))
		}
		return nil
	})
	if err != nil || summary.Kind == sitemap.None {
		o.Reason = because(judge.BadSitemap, "neither a sitemap nor an index of them")
		o.State = frontier.StateFailed
		return
	}
	slices.SortStableFunc(pages, func(a, b sitemap.Entry) int {
		return cmp.Or(cmp.Compare(priority(b), priority(a)), b.LastMod.Compare(a.LastMod))
	})
	f := &judge.Facts{Settings: c.scope.Load(), Now: j.now}
	for _, p := range pages {
		if u, err := j.url.Resolve(p.Loc); err == nil && c.scope.Load().Holds(u) {
			o.Links = c.judge(o.Links, j, frontier.Link{URL: u, Class: frontier.Page, Depth: 1, How: judge.HowSitemap}, f)
		}
	}
	c.opts.Logger.Info("sitemap", "url", j.url.String(), "type", fmt.Sprint(summary.Kind), "urls", summary.URLs, "children", summary.Children)
}

// priority is that of an entry; one without has 0.5 (sitemaps.org).
func priority(e sitemap.Entry) float64 {
	if e.Priority < 0 {
		return 0.5
	}
	return e.Priority
}

// childSitemap is a sitemap that an index lists. An index within an index,
// which sitemaps.org does not know of, may name so many in one run: they would
// multiply.
func (c *Crawl) childSitemap(j *job, u weburl.URL) frontier.Link {
	l := frontier.Link{URL: u, Depth: j.entry.Depth + 1, How: judge.HowSitemapIndex, Reason: c.notNamed(j.url, u)}
	if l.Depth > 1 && c.nested.Add(1) > maxNested {
		l.Reason = because(judge.BadSitemap, fmt.Sprintf("over %d in indexes of indexes", maxNested))
	}
	return l
}

// Bounds of sitemaps (sitemaps.org): octets of one unpacked, how deep indexes
// are followed, how many sitemaps those within indexes may name, and redirects
// in a row.
const (
	maxSitemapMoves = 5
	MaxSitemap      = 52_428_800
	MaxSitemapDepth = 3
	maxNested       = 1000
)
