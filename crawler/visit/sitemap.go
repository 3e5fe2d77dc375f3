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

// sitemapsOf are the sitemaps that a robots.txt names, else /sitemap.xml
// where guessing is on and the rules allow it.
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

// addSitemap adds a sitemap to the links, unless it is known. Hosts that are
// not the site's are asked too, for the URLs of the site that they list, but
// only SitemapHosts of them: a robots.txt may name thousands.
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

// notNamed is the reason against a sitemap on another host that neither the
// site nor that host itself names.
func (r *Reader) notNamed(by, u weburl.URL) judge.Reason {
	scope := r.Scope()
	if scope.Holds(by) || scope.Holds(u) || by.Hostname() == u.Hostname() {
		return judge.Reason{}
	}
	return judge.Reason{Rule: judge.Host}
}

// moved is where a sitemap redirects to, which may be on its own host though
// that is not the site's.
func (o *Outcome) moved(r *Reader, a *Attempt, to weburl.URL, redirects int) {
	if redirects > maxSitemapMoves {
		return
	}
	l := frontier.Link{URL: to, Depth: a.Entry.Depth, Redirects: redirects, How: redirectHow(a.Entry)}
	if a.Entry.How == judge.HowGuess {
		l.How = judge.HowGuess // nobody has named it: that it is missing is no failure
	}
	if l.Reason = r.notNamed(a.URL, to); r.Scope().Holds(a.URL) && !r.Scope().Holds(to) &&
		to.Hostname() != a.URL.Hostname() {
		l.Reason = judge.Reason{Rule: judge.Host}
	}
	o.Links = r.addSitemap(o.Links, a, l)
}

// outcomeOfSitemap makes links of what a sitemap lists: the URLs in the order
// of their priority and of their last change, so that the queue is.
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
		if a.Entry.How == judge.HowGuess { // many sites have a page of theirs for what they do not know
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

// isOld says whether a sitemap's page was last changed before what is asked for.
func (r *Reader) isOld(e *sitemap.Entry) bool {
	return !r.opts.Since.IsZero() && !e.LastMod.IsZero() && e.LastMod.Before(r.opts.Since)
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
func (r *Reader) childSitemap(a *Attempt, u weburl.URL) frontier.Link {
	l := frontier.Link{URL: u, Depth: a.Entry.Depth + 1, How: judge.HowSitemapIndex, Reason: r.notNamed(a.URL, u)}
	if l.Depth > 1 && r.nested.Add(1) > maxNested {
		l.Reason = Because(judge.BadSitemap, fmt.Sprintf("over %d in nested indexes", maxNested))
	}
	return l
}

// Bounds of sitemaps: how deep indexes are followed, how many sitemaps those within indexes may name, and redirects
// in a row.
const (
	maxSitemapMoves = 5
	MaxSitemapDepth = 3
	maxNested       = 1000
)
