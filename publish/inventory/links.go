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

// Link is one link of a page and what its target answered.
type Link struct {
	From    string  `json:"from"`
	To      string  `json:"to"`
	Status  int     `json:"status"` // of the target itself; 0: it was not asked for
	Broken  bool    `json:"broken"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"` // why it is broken, or why it was not asked for

	hidden   bool       // From must not be named
	Fragment string     `json:"-"` // without its '#'; To is without it
	URL      weburl.URL `json:"-"` // To; zero where it is none
}

// Verdict is what is known of a link's target.
type Verdict string

// The verdicts on a link.
const (
	OK        Verdict = "ok"
	IsBroken  Verdict = "broken"    // an error, no answer, a redirect that leads nowhere, a URL that is none
	Undecided Verdict = "undecided" // the URL failed and will be retried
	Unchecked Verdict = "unchecked" // it was not asked for
)

// judged sets the verdict by what the archive says.
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

// Target is a broken URL with the pages that lead to it.
type Target struct {
	URL    string
	Status int
	Reason string
	On     []string // the first of the pages
	Links  int      // how many lead there
	Hidden int      // of them, those that must not be named
}

// examples is how many pages a Target names.
const examples = 3

// Targets are the broken URLs of a site, each once: what links, report and mirror
// call broken. Those that most pages lead to come first.
type Targets struct {
	by    map[string]*Target
	Total int // links, broken or not
	Pages int // that have a broken one
}

// Add takes in the links of a page.
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

// Links is how many links are broken.
func (t *Targets) Links() (n int) {
	for _, to := range t.by {
		n += to.Links
	}
	return n
}

// List gives them in order.
func (t *Targets) List() []*Target {
	return slices.SortedFunc(maps.Values(t.by),
		func(a, b *Target) int { return cmp.Or(b.Links-a.Links, strings.Compare(a.URL, b.URL)) })
}

// Options of Links.
type Options struct {
	Known EachKnown
	Now   time.Time
	// Fold gives the URL that the site's Clean-param makes of another one; nil
	// folds nothing.
	Fold func(weburl.URL) (weburl.URL, bool)
	// Fragments gives each fragment that a link names as a link of its own.
	Fragments bool
	// Visits, which may be nil, is called with the visits of each URL, as they are
	// read for the links: who wants them too need not read them again.
	Visits func(visits []*crawllog.Visit)
}

// Site is the pages of an archive whose links can be told, and what became of all URLs.
type Site struct {
	*targets
	a     *storage.Archive
	pages []publish.Page
}

// Read reads what is known of all URLs, and which pages have links that can be told.
func Read(ctx context.Context, a *storage.Archive, o Options) (*Site, error) {
	t, pages, err := readTargets(ctx, a, o)
	return &Site{t, a, pages}, err
}

// Links is Read, and Links of what it gives.
func Links(ctx context.Context, a *storage.Archive, o Options, each func(from string, links []Link) error) error {
	s, err := Read(ctx, a, o)
	if err != nil {
		return err
	}
	return s.Links(ctx, each)
}

// Places calls each with what fragments of the URLs of pages may name, where all of it is
// known; it is valid until each returns.
func (s *Site) Places(ctx context.Context, each func(url string, p publish.Page, ids []string)) error {
	return s.eachFacts(ctx, func(p publish.Page, said *facts.Facts) error {
		if !said.Capped {
			each(said.URL.String(), p, said.IDs)
		}
		return nil
	})
}

// eachFacts calls each with what the pages say, one after another; it is valid until each
// returns.
func (s *Site) eachFacts(ctx context.Context, each func(publish.Page, *facts.Facts) error) error {
	var page facts.Facts
	for _, p := range s.pages {
		if err := cmp.Or(ctx.Err(), publish.Facts(s.a, p, &page)); err != nil {
			return err
		}
		if err := each(p, &page); err != nil {
			return err
		}
	}
	return nil
}

// Links calls each with all links of one page, page by page, each target once, and each
// fragment of it where o.Fragments says so; the list is valid until each returns. The
// links of a page whose body is not kept, or may not be shown, are unknown; of those,
// and of sitemaps and redirects, it gives the broken URLs that they led to first.
func (s *Site) Links(ctx context.Context, each func(from string, links []Link) error) error {
	var list []Link
	n := -1
	err := s.eachFacts(ctx, func(_ publish.Page, page *facts.Facts) error {
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

// Broken gives the broken URLs of an archive.
func Broken(ctx context.Context, a *storage.Archive, o Options) (*Targets, error) {
	var t Targets
	err := Links(ctx, a, o, func(_ string, links []Link) error {
		t.Add(links)
		return nil
	})
	return &t, err
}

// readable is the visit whose body tells the links of a page, and what may be done with
// it; ok is false where they cannot or may not be read, and where the page is gone.
func readable(a *storage.Archive, visits []*crawllog.Visit, now time.Time) (v *crawllog.Visit, p publish.Permit,
	ok bool) {
	v, last := crawllog.Current(visits, a.VisitsAt), visits[len(visits)-1]
	if !v.IsCopy() || v.Links == 0 && !v.IsPage() || last.Status == 404 || last.Status == 410 {
		return v, p, false
	}
	p = permit(a, visits, v, now)
	return v, p, p.Show
}

// linksOf judges the links of a page, each target once.
func (t *targets) linksOf(list []Link, page *facts.Facts) []Link {
	t.page++
	clear(t.strange)
	fragments := page.Fragments
	for i := range page.Links {
		l := &page.Links[i]
		if l.Kind == htmlmeta.Form || l.Kind == htmlmeta.Hint || l.Kind == htmlmeta.Speculative {
			continue
		}
		named := fragmentsOf(&fragments, i)
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

// fragmentsOf takes those of a link off the front of a list, which is by link.
func fragmentsOf(list *[]htmlmeta.Fragment, link int) (named []htmlmeta.Fragment) {
	from := 0
	for from < len(*list) && (*list)[from].Link < link {
		from++
	}
	to := from
	for to < len(*list) && (*list)[to].Link == link {
		to++
	}
	named, *list = (*list)[from:to], (*list)[to:]
	return named
}

// unmentioned gives the broken URLs that no page read above links to: those of
// sitemaps, of redirects and of pages whose bodies are not kept.
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

// isLink says whether somebody named the URL. Nobody links to the robots.txt
// that every crawler asks for, nor to a name that was made up to learn what the
// site answers for what it does not have. Of what another crawler asked for
// that is known by its last hop.
func isLink(k Known) bool {
	if hop, imported := strings.CutPrefix(k.How, judge.HowImported); imported {
		return strings.Contains("LERM", hop) // not what was inferred, nor what a script may name
	}
	return k.How != "robots.txt" && k.How != "imported" && !strings.HasPrefix(k.How, "probe")
}
