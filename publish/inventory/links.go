package inventory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"curtsy/facts"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Link is a link of a page with what is known of its target.
type Link struct {
	From    string  `json:"from"`
	To      string  `json:"to"`
	Status  int     `json:"status"` // of the target itself; 0: not requested
	Broken  bool    `json:"broken"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"` // why it is broken, or why it was not requested

	hidden   bool       // From must not be published
	Fragment string     `json:"-"` // without '#'; not part of To
	URL      weburl.URL `json:"-"` // To; zero if it is not a URL
}

// Verdict is what is known of a link's target.
type Verdict string

// The verdicts on a link.
const (
	OK        Verdict = "ok"
	IsBroken  Verdict = "broken"    // an error, no answer, a redirect that leads nowhere, an invalid URL
	Undecided Verdict = "undecided" // the URL failed and will be retried
	Unchecked Verdict = "unchecked" // not requested
)

// judged sets the verdict; waits means that the target is queued.
func (l *Link) judged(waits bool) {
	switch {
	case l.Broken:
		l.Verdict = IsBroken
	case waits && l.Status != 0:
		l.Verdict = Undecided
	case l.Status == 0:
		l.Verdict = Unchecked
	default:
		l.Verdict = OK
	}
}

// Target is a broken URL with the pages that link to it.
type Target struct {
	URL    string
	Status int
	Reason string
	On     []string // the first pages, at most examples
	Links  int      // number of links to it
	Hidden int      // those of them on pages that must not be published
}

// examples is the most pages that a Target names.
const examples = 3

// Targets collects the broken URLs of a site, each once. It defines what the outlets links,
// report and mirror call broken.
type Targets struct {
	by    map[string]*Target
	Total int // links, broken or not
	Pages int // pages with a broken link
}

// Add adds the links of a page.
func (t *Targets) Add(links []Link) {
	t.Total += len(links)
	had := false
	for i := range links {
		l := &links[i]
		if !l.Broken {
			continue
		}
		had = true
		if t.by == nil {
			t.by = map[string]*Target{}
		}
		to := t.by[l.To]
		if to == nil {
			to = &Target{URL: l.To, Status: l.Status, Reason: l.Reason}
			t.by[l.To] = to
		}
		to.Links++
		switch {
		case l.hidden:
			to.Hidden++
		case len(to.On) < examples && l.From != "":
			to.On = append(to.On, l.From)
		}
	}
	if had {
		t.Pages++
	}
}

// Links returns the number of broken links.
func (t *Targets) Links() (n int) {
	for _, to := range t.by {
		n += to.Links
	}
	return n
}

// List returns the targets, those with most links first.
func (t *Targets) List() []*Target {
	return slices.SortedFunc(maps.Values(t.by),
		func(a, b *Target) int { return cmp.Or(b.Links-a.Links, strings.Compare(a.URL, b.URL)) })
}

// Options of Links.
type Options struct {
	Known EachKnown
	Now   time.Time
	// Fold applies the site's Clean-param to a URL; nil changes nothing.
	Fold func(weburl.URL) (weburl.URL, bool)
	// Fragments yields each fragment of a target as a link of its own.
	Fragments bool
	// Visits, which may be nil, is called with the visits of each URL as they are read, so that
	// a caller need not read them again.
	Visits func(visits []*crawllog.Visit)
}

// Site holds the pages of an archive whose links may be read, and the state of all URLs.
type Site struct {
	*targets
	a     *storage.Archive
	pages []crawllog.Ref
}

// Links calls Read and then Site.Links.
func Links(ctx context.Context, a *storage.Archive, o Options, each func(from string, links []Link) error) error {
	s, err := Read(ctx, a, o)
	if err != nil {
		return err
	}
	return s.Links(ctx, each)
}

// Places calls each with the fragment identifiers (ids and names) of each page, unless their
// list is incomplete. ids is valid until each returns.
func (s *Site) Places(ctx context.Context, each func(url string, page crawllog.Ref, ids []string)) error {
	return s.eachFacts(ctx, func(p crawllog.Ref, said *facts.Facts) error {
		if !said.Capped {
			each(said.URL.String(), p, said.IDs)
		}
		return nil
	})
}

// eachFacts calls each with the facts of every page; they are valid until each returns.
func (s *Site) eachFacts(ctx context.Context, each func(crawllog.Ref, *facts.Facts) error) error {
	var page facts.Facts
	for _, p := range s.pages {
		v, err := publish.VisitOf(s.a, p)
		if err = cmp.Or(ctx.Err(), err); err == nil {
			err = publish.Facts(s.a, v, &page)
		}
		if err != nil {
			return err
		}
		if err := each(p, &page); err != nil {
			return err
		}
	}
	return nil
}

// Links calls each with the links of a page, page by page: each target once, or once per
// fragment with o.Fragments. The list is valid until each returns. Pages whose body is not
// archived or may not be shown have no links here; broken URLs found only through them, through
// sitemaps or redirects come last, with the URL that led there.
func (s *Site) Links(ctx context.Context, each func(from string, links []Link) error) error {
	var list []Link
	n := -1
	err := s.eachFacts(ctx, func(_ crawllog.Ref, page *facts.Facts) error {
		from := page.URL.String()
		n++
		list = s.linksOf(list[:0], page)
		for _, o := range page.Odd {
			list = append(list, Link{To: o.Text, Broken: true, Verdict: IsBroken, Reason: o.Why})
		}
		for j := range list {
			list[j].From, list[j].hidden = from, s.hidden[n]
		}
		if len(list) == 0 {
			return nil
		}
		return each(from, list)
	})
	if err != nil {
		return err
	}
	return s.unmentioned(s.a, each)
}

// Broken returns the broken URLs of an archive.
func Broken(ctx context.Context, a *storage.Archive, o Options) (*Targets, error) {
	var t Targets
	err := Links(ctx, a, o, func(_ string, links []Link) error {
		t.Add(links)
		return nil
	})
	return &t, err
}

// readable returns the current visit of a page and its permit; ok is false if its links cannot
// or may not be read, or if the page is gone.
func readable(a *storage.Archive, visits []*crawllog.Visit, now time.Time) (v *crawllog.Visit, p publish.Permit,
	ok bool) {
	v, last := crawllog.Current(visits, a.VisitsAt), visits[len(visits)-1]
	if !v.IsCopy() || v.Links == 0 && !v.IsPage() || last.Status == 404 || last.Status == 410 {
		return v, p, false
	}
	_, p = publish.CurrentPermit(visits, now, a.VisitsAt)
	return v, p, p.Show
}

// linksOf judges the links of a page, each target once.
func (t *targets) linksOf(list []Link, page *facts.Facts) []Link {
	t.page++
	clear(t.strange)
	for i := range page.Links {
		l := &page.Links[i]
		if l.Kind == htmlmeta.Form || l.Kind == htmlmeta.Hint || l.Kind == htmlmeta.Speculative {
			continue
		}
		named := fragmentsOf(page.Fragments, i)
		if !t.o.Fragments || len(named) == 0 {
			named = plain
		}
		link, first := t.judge(l.URL, named[len(named)-1].Text != "")
		for _, f := range named {
			if link.Fragment = f.Text; first || f.Text != "" {
				list = append(list, link)
			}
		}
	}
	return list
}

var plain = []htmlmeta.Fragment{{}}

// fragmentsOf returns the fragments of a link in a list sorted by link.
func fragmentsOf(list []htmlmeta.Fragment, link int) []htmlmeta.Fragment {
	byLink := func(f htmlmeta.Fragment, link int) int { return f.Link - link }
	from, _ := slices.BinarySearchFunc(list, link, byLink)
	n, _ := slices.BinarySearchFunc(list[from:], link+1, byLink)
	return list[from : from+n]
}

// unmentioned yields the broken URLs that no page read above links to: those from sitemaps,
// redirects and pages whose bodies are not archived.
func (t *targets) unmentioned(a *storage.Archive, each func(string, []Link) error) error {
	vias := vias{a: a, now: t.o.Now}
	return t.o.Known(func(k Known) error {
		o := t.find(k.URL)
		if o == nil || !o.failed || o.mentioned || !isLink(k) {
			return nil
		}
		from, err := vias.of(k.Via)
		if err != nil {
			return err
		}
		return each(from.name, []Link{{From: from.name, To: k.URL, Status: int(o.status), Broken: true,
			Verdict: IsBroken, Reason: t.reasons[o.reason], hidden: !from.listed}})
	})
}

// isLink reports whether the URL was found as a link. Not links are the robots.txt of each
// origin, and URLs made up to probe the site's answer to missing pages. URLs imported from
// another crawler's archive are judged by their last hop.
func isLink(k Known) bool {
	if hop, imported := strings.CutPrefix(k.How, judge.HowImported); imported {
		return strings.Contains("LERM", hop) // not inferred (I), and not speculative (X)
	}
	return k.How != "robots.txt" && k.How != "imported" && !strings.HasPrefix(k.How, "probe")
}
