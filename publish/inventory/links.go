package inventory

import (
	"cmp"
	"context"
	"strings"
	"time"

	"curtsy/facts"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Link is one link of a page and what its target answered.
type Link struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Status int    `json:"status"` // of the target itself; 0: it was not asked for
	Broken bool   `json:"broken"`
	Reason string `json:"reason"` // why it is broken, or why it was not asked for
}

// Options of Links.
type Options struct {
	Known EachKnown
	Now   time.Time
	// Fold gives the URL that the site's Clean-param makes of another one; nil
	// folds nothing.
	Fold func(weburl.URL) (weburl.URL, bool)
	// Visits, which may be nil, is called with the visits of each URL, as they are
	// read for the links: who wants them too need not read them again.
	Visits func(visits []*crawllog.Visit)
}

// Links calls each with all links of one page, page by page, each target once; the
// list is valid until each returns. The links of a page whose body is not kept, or
// may not be shown, are unknown; of those, and of sitemaps and redirects, it gives
// the broken URLs that they led to first.
func Links(ctx context.Context, a *storage.Archive, o Options, each func(from string, links []Link) error) error {
	t, pages, err := readTargets(ctx, a, o)
	if err != nil {
		return err
	}
	var page facts.Facts
	var list []Link
	for _, p := range pages {
		if err := cmp.Or(ctx.Err(), publish.Facts(a, p, &page)); err != nil {
			return err
		}
		from := page.URL.String()
		if list = t.linksOf(list[:0], from, page.Links); len(list) == 0 {
			continue
		}
		if err := each(from, list); err != nil {
			return err
		}
	}
	return t.unmentioned(a, each)
}

// readable is the visit whose body tells the links of a page; nil where they
// cannot or may not be read, and where the page is gone.
func readable(a *storage.Archive, visits []*crawllog.Visit, now time.Time) *crawllog.Visit {
	v, last := publish.Current(visits, a.VisitsAt), visits[len(visits)-1]
	switch {
	case !v.IsCopy() || v.Links == 0 || last.Status == 404 || last.Status == 410:
		return nil
	case !permit(a, visits, v, now).Show:
		return nil
	}
	return v
}

// linksOf judges the links of a page, each target once.
func (t *targets) linksOf(list []Link, from string, links []htmlmeta.Link) []Link {
	t.page++
	clear(t.strange)
	for i := range links {
		l := &links[i]
		if l.Kind == htmlmeta.Form || l.Kind == htmlmeta.Hint || l.Kind == htmlmeta.Speculative {
			continue
		}
		if link, first := t.judge(l.URL); first {
			link.From = from
			list = append(list, link)
		}
	}
	return list
}

// unmentioned gives the broken URLs that no page read above links to: those of
// sitemaps, of redirects and of pages whose bodies are not kept.
func (t *targets) unmentioned(a *storage.Archive, each func(string, []Link) error) error {
	vias := vias{a: a}
	return t.o.Known(func(k Known) error {
		o := t.find(k.URL)
		if o == nil || !o.failed || o.mentioned || !isLink(k) {
			return nil
		}
		from, err := vias.of(k.Via)
		if err != nil {
			return err
		}
		return each(from.name, []Link{{From: from.name, To: k.URL, Status: int(o.status), Broken: true, Reason: t.reasons[o.reason]}})
	})
}

// isLink says whether somebody named the URL. Nobody links to the robots.txt
// that every crawler asks for, nor to a name that was made up to learn what the
// site answers for what it does not have.
func isLink(k Known) bool {
	return k.How != "robots.txt" && !strings.HasPrefix(k.How, "probe")
}
