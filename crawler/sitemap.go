package crawler

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"curtsy/crawler/fetch"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/sitemap"
)

// sitemapsOf are the sitemaps that a robots.txt names, else /sitemap.xml
// where guessing is on.
func (c *Crawl) sitemapsOf(r *robotsFetch, j *job) []weburl.URL {
	base := robotsURL(r.origin.name)
	var urls []weburl.URL
	for _, s := range r.rules.Sitemaps() {
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

// judgeSitemap adds a sitemap to the list. One on another host is fetched
// too, for the URLs of ours that it lists, if our own robots.txt names it.
func (c *Crawl) judgeSitemap(links []frontier.Link, j *job, u weburl.URL) []frontier.Link {
	if c.frontier.Known(u) || u.Target() == rules.Location {
		return links
	}
	return append(links, frontier.Link{URL: u, Class: frontier.Sitemap, Via: j.entry.ID, How: judge.HowSitemapLine})
}

// moved is where a sitemap redirects to, which may be on its own host though
// that is not ours.
func (o *Outcome) moved(c *Crawl, j *job, to weburl.URL, redirects int) {
	ours := c.scope.Load().Holds(to) || to.Hostname() == j.url.Hostname()
	if ours && redirects <= maxSitemapMoves && to.Target() != rules.Location && !c.frontier.Known(to) {
		o.Links = append(o.Links, frontier.Link{URL: to, Class: frontier.Sitemap, Via: j.entry.ID,
			Depth: j.entry.Depth, Redirects: redirects, How: redirectHow(j.entry)})
	}
}

// outcomeOfSitemap makes links of what a sitemap lists: the URLs in the order
// of their priority and of their last change, so that the queue is.
func (c *Crawl) outcomeOfSitemap(o *Outcome, j *job, x *fetch.Exchange) {
	body, _, err := x.Decoded(maxSitemap)
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
		if u, err := j.url.Resolve(e.Loc); err == nil && j.entry.Depth < maxSitemapDepth && u.Target() != rules.Location && !c.frontier.Known(u) {
			if c.scope.Load().Holds(u) || u.Origin() == j.url.Origin() {
				o.Links = append(o.Links, c.childSitemap(j, u))
			}
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
	l := frontier.Link{URL: u, Class: frontier.Sitemap, Via: j.entry.ID, Depth: j.entry.Depth + 1, How: judge.HowSitemapIndex}
	if l.Depth > 1 && c.nested.Add(1) > maxNested {
		l.Class, l.Reason, l.Soft = frontier.Disregarded, because(judge.BadSitemap, fmt.Sprintf("over %d in indexes of indexes", maxNested)), true
	}
	return l
}

// Bounds of sitemaps (sitemaps.org): octets of one unpacked, how deep indexes
// are followed, how many sitemaps those within indexes may name, and redirects
// in a row.
const (
	maxSitemapMoves = 5
	maxSitemap      = 52_428_800
	maxSitemapDepth = 3
	maxNested       = 1000
)
