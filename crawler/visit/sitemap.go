package visit

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

// sitemapsOf returns the sitemaps that a robots.txt names, else /sitemap.xml if guessing is on and
// the rules allow it.
func (r *Reader) sitemapsOf(answer *robotstxt.Answer, base weburl.URL) []weburl.URL {
	var urls []weburl.URL
	for _, s := range answer.Rules.Sitemaps() {
		u, err := base.Resolve(s.URL)
		if err != nil {
			r.opts.Logger.Warn("robots.txt names a sitemap that is not a URL", "line", s.Line, "sitemap", s.URL)
			continue
		}
		urls = append(urls, u)
	}
	if len(urls) == 0 && r.opts.GuessSitemap {
		if u, err := base.Resolve("/sitemap.xml"); err == nil && answer.Rules.Verdict(u.Target()).Allow {
			urls = append(urls, u)
		}
	}
	return urls
}

// addSitemap adds an unknown sitemap to the links. Sitemaps on hosts outside the site are fetched for the
// site's URLs that they list, but only from SitemapHosts hosts: a robots.txt may name thousands.
func (r *Reader) addSitemap(links []frontier.Link, a *Attempt, l frontier.Link) []frontier.Link {
	if r.frontier.Known(l.URL) || l.URL.Target() == rules.Location {
		return links
	}
	l.Via = a.Entry.ID
	most := r.opts.SitemapHosts
	if l.Class = frontier.Sitemap; l.Reason.IsZero() && !r.Scope().Holds(l.URL) && !r.opts.Admit(l.URL.Origin(), most) {
		l.Reason = judge.Reason{Rule: judge.SitemapHosts, Params: judge.Params{Limit: max(most, 0)}}
	}
	if !l.Reason.IsZero() {
		l.Class, l.Soft = frontier.Disregarded, true
	}
	return append(links, l)
}

// notNamed returns the reason against a sitemap on another host that is named neither by the site nor by
// that host.
func (r *Reader) notNamed(by, u weburl.URL) judge.Reason {
	scope := r.Scope()
	if scope.Holds(by) || scope.Holds(u) || by.Hostname() == u.Hostname() {
		return judge.Reason{}
	}
	return judge.Reason{Rule: judge.Host}
}

// moved adds the target of a sitemap's redirect. It may be on the sitemap's own host even if that is
// outside the site.
func (o *Outcome) moved(r *Reader, a *Attempt, to weburl.URL, redirects int) {
	if redirects > maxSitemapMoves {
		return
	}
	l := frontier.Link{URL: to, Depth: a.Entry.Depth, Redirects: redirects, How: redirectHow(a.Entry)}
	if a.Entry.How == judge.HowGuess {
		l.How = judge.HowGuess // nobody named it: if it is missing, that is no failure
	}
	if l.Reason = r.notNamed(a.URL, to); r.Scope().Holds(a.URL) && !r.Scope().Holds(to) &&
		to.Hostname() != a.URL.Hostname() {
		l.Reason = judge.Reason{Rule: judge.Host}
	}
	o.Links = r.addSitemap(o.Links, a, l)
}

// outcomeOfSitemap adds the URLs that a sitemap lists, ordered by priority and then by lastmod, the latest
// first, so that they are queued in this order.
func (r *Reader) outcomeOfSitemap(o *Outcome, a *Attempt, x *fetch.Exchange) {
	body, _, err := x.Decoded(sitemap.MaxBytes)
	if err != nil && len(body) == 0 {
		o.State, o.Reason = frontier.StateFailed, Because(judge.BadSitemap, err.Error())
		return
	}
	var pages []sitemap.Entry
	o.Links = nil
	summary, err := sitemap.Read(bytes.NewReader(body), a.URL, func(e sitemap.Entry, child bool) error {
		if !child && r.isOld(&e) {
			return nil
		}
		if !child {
			pages = append(pages, e)
			return nil
		}
		if u, err := a.URL.Resolve(e.Loc); err == nil && a.Entry.Depth < MaxSitemapDepth && !r.frontier.Known(u) {
			o.Links = r.addSitemap(o.Links, a, r.childSitemap(a, u))
		}
		return nil
	})
	if err != nil || summary.Kind == sitemap.None {
		o.State, o.Reason = frontier.StateFailed, Because(judge.BadSitemap, "neither a sitemap nor an index of them")
		if a.Entry.How == judge.HowGuess { // many sites return an HTML page for unknown URLs
			o.State, o.Reason = frontier.StateDisregarded,
				judge.Reason{Rule: judge.NoSitemap, Params: judge.Params{Status: x.Status}}
		}
		return
	}
	slices.SortStableFunc(pages, func(x, y sitemap.Entry) int {
		return cmp.Or(cmp.Compare(priority(y), priority(x)), y.LastMod.Compare(x.LastMod))
	})
	f := &judge.Facts{Settings: r.Scope(), Now: a.Now}
	for _, p := range pages {
		if u, err := a.URL.Resolve(p.Loc); err == nil && r.Scope().Holds(u) {
			o.Links = r.Judge(o.Links, a, frontier.Link{URL: u, Class: frontier.Page, Depth: 1, How: judge.HowSitemap},
				f)
		}
	}
	r.opts.Logger.Info("sitemap", "url", a.URL.String(), "type", fmt.Sprint(summary.Kind), "urls", summary.URLs,
		"children", summary.Children)
}

// isOld reports whether a page's lastmod is before Options.Since.
func (r *Reader) isOld(e *sitemap.Entry) bool {
	return !r.opts.Since.IsZero() && !e.LastMod.IsZero() && e.LastMod.Before(r.opts.Since)
}

// priority returns the priority of an entry; the default is 0.5 (sitemaps.org).
func priority(e sitemap.Entry) float64 {
	if e.Priority < 0 {
		return 0.5
	}
	return e.Priority
}

// childSitemap returns the link to a sitemap that an index lists. Indexes within indexes, which
// sitemaps.org does not allow, may name at most maxNested sitemaps in one run.
func (r *Reader) childSitemap(a *Attempt, u weburl.URL) frontier.Link {
	l := frontier.Link{URL: u, Depth: a.Entry.Depth + 1, How: judge.HowSitemapIndex, Reason: r.notNamed(a.URL, u)}
	if l.Depth > 1 && r.nested.Add(1) > maxNested {
		l.Reason = Because(judge.BadSitemap, fmt.Sprintf("over %d in nested indexes", maxNested))
	}
	return l
}

// Bounds of sitemaps: redirects in a row, depth of indexes, and sitemaps named by indexes within indexes.
const (
	maxSitemapMoves = 5
	MaxSitemapDepth = 3
	maxNested       = 1000
)
