// Package audit finds what the owner of a site may want to repair. It runs a table of checks
// (checks.go) over the archived pages; each finding has a name, a sentence and the pages
// concerned.
package audit

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"curtsy/facts"
	"curtsy/frontier/judge"
	"curtsy/htmlmeta"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/inventory"
	"curtsy/sitemap"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Options of an audit. All fields are required.
type Options struct {
	Known   inventory.EachKnown
	Fold    func(weburl.URL) (weburl.URL, bool)
	Origins []string
	Now     time.Time
}

// page is what the checks know of a page.
type page struct {
	*Page     // nil once only what is compared with other pages is kept
	url       string
	visit     *crawllog.Visit // nil when Page is nil
	index     bool            // the page does not ask not to be indexed
	canonical string          // the URL of its canonical link; "" for none
	header    string          // the canonical URL of a Link header, if it differs from the document's

	title, description, digest string
	canonicals                 int
	alternates                 []alternate // url is "" if the reference is not a URL
}

// target is what the archive knows of a URL.
type target struct {
	state     string
	rule      judge.Reason
	status    int
	to        string // target of its redirect
	index     bool
	orphan    bool
	requisite bool
	image     int64 // size of an image in octets
}

// site is the input of the checks.
type site struct {
	o        Options
	hits     [][]Hit // of the page checks, by the index of the check
	pages    []*page
	by       map[string]*page
	urls     map[string]*target
	listed   map[string]string // URLs that sitemaps list, with the URL of the sitemap
	sitemaps []Hit
	strange  []Hit // sitemaps that list URLs of other sites
	broken   inventory.Targets
	moved    []*inventory.Target // redirects that are linked to
	odd      []Hit               // links that cannot be followed
}

// gather reads everything that the checks need.
func gather(ctx context.Context, a *storage.Archive, o Options) (*site, error) {
	s := &site{o: o, by: map[string]*page{}, urls: map[string]*target{}, listed: map[string]string{},
		hits: make([][]Hit, len(checks))}
	err := inventory.Rows(a, o.Known, o.Now, func(r *inventory.Row) error {
		if !judge.Belongs(r.Rule.Rule) {
			return ctx.Err()
		}
		t := &target{state: r.State, rule: r.Rule, status: r.Status, index: r.Listed, orphan: r.Orphan,
			requisite: r.Class == judge.Requisite.String()}
		if strings.HasPrefix(r.Type, "image/") && r.Status == 200 {
			t.image = r.Bytes
		}
		if r.Visit != nil {
			t.to = r.Visit.Location
		}
		s.urls[r.URL] = t
		if r.Class == judge.Sitemap.String() && r.Visit != nil && r.Status == 200 {
			return s.readSitemap(a, r.Visit)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	if err := s.readPages(ctx, a); err != nil {
		return nil, err
	}
	var moved inventory.Targets
	err = inventory.Links(ctx, a, inventory.Options{Known: o.Known, Now: o.Now, Fold: o.Fold},
		func(_ string, links []inventory.Link) error {
			s.broken.Add(links)
			var redirects []inventory.Link
			for _, l := range links {
				if crawllog.IsRedirect(l.Status) && !l.Broken {
					l.Broken = true // list holds only these
					redirects = append(redirects, l)
				}
			}
			moved.Add(redirects)
			return nil
		})
	s.moved = moved.List()
	return s, err
}

// readPages reads the current pages that may be shown.
func (s *site) readPages(ctx context.Context, a *storage.Archive) error {
	find := crawllog.Remember(a.VisitsAt)
	var said facts.Facts
	for visits, err := range a.Histories() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		v, permit := publish.CurrentPermit(visits, s.o.Now, find)
		last := visits[len(visits)-1]
		if !v.IsPage() || !publish.HasPage(v) || !permit.Show || last.Status == 404 || last.Status == 410 {
			continue
		}
		if err := publish.Facts(a, v, &said); err != nil {
			return err
		}
		s.add(Read(&said), v, permit.List)
	}
	return nil
}

// add runs the page checks on a page, and keeps what site checks compare.
func (s *site) add(read *Page, v *crawllog.Visit, index bool) {
	canonicals := read.Notes[htmlmeta.NoteCanonical]
	p := &page{Page: read, url: strings.Clone(read.URL.String()), visit: v, index: index,
		title: read.first(htmlmeta.NoteTitle), description: read.first(htmlmeta.NoteDescription), digest: v.Digest,
		canonicals: len(canonicals), canonical: read.resolved(read.first(htmlmeta.NoteCanonical))}
	if named := v.Canonical; named != "" && named != p.canonical { // the header takes precedence
		p.header, p.canonical = named, cmp.Or(p.canonical, named)
	}
	for _, text := range read.Notes[htmlmeta.NoteAlternate] {
		lang, href, _ := strings.Cut(text, " ")
		p.alternates = append(p.alternates, alternate{lang, read.resolved(href)})
	}
	for n := range checks {
		if of := checks[n].page; of != nil {
			if detail, is := of(p); is {
				s.hits[n] = append(s.hits[n], Hit{p.url, detail})
			}
		}
	}
	for _, o := range read.Odd {
		if !slices.Contains(canonicals, o.Text) { // another check reports canonical links
			s.odd = append(s.odd, Hit{p.url, legible.Cut(o.Text, 200) + ": " + o.Why})
		}
	}
	p.Page, p.visit = nil, nil
	s.pages = append(s.pages, p)
	s.by[p.url] = p
}

// readSitemap records what an archived sitemap lists and its faults.
func (s *site) readSitemap(a *storage.Archive, v *crawllog.Visit) error {
	b, err := publish.OpenBody(a, v)
	if err != nil {
		return publish.OfArchive(err)
	}
	defer b.Close()
	elsewhere, example := 0, ""
	sum, err := sitemap.Read(b, weburl.FromCanonical(v.URL), func(e sitemap.Entry, child bool) error {
		if !child && !s.isOwn(e.Loc) {
			elsewhere++
			example = cmp.Or(example, e.Loc)
		}
		if !child && !e.Alternate && s.listed[e.Loc] == "" {
			s.listed[e.Loc] = v.URL
		}
		return nil
	})
	switch {
	case err != nil:
		return nil
	case sum.Kind == sitemap.None:
		s.sitemaps = append(s.sitemaps, Hit{v.URL, "it is no sitemap"})
	case sum.Truncated != "":
		s.sitemaps = append(s.sitemaps, Hit{v.URL, "it ends early: " + sum.Truncated})
	}
	if elsewhere > 0 {
		s.strange = append(s.strange, Hit{v.URL, legible.Count(elsewhere, "URL") + ", such as " + example})
	}
	if sum.Bad > 0 {
		s.sitemaps = append(s.sitemaps, Hit{v.URL, legible.Count(sum.Bad, "loc element") +
			" without a usable URL"})
	}
	return nil
}

// resolved resolves a reference of the page to a canonicalized URL; "" if it is not one.
func (p *Page) resolved(href string) string {
	u, err := p.URL.Resolve(href)
	if err != nil || strings.TrimSpace(href) == "" {
		return ""
	}
	return u.String()
}

// isOwn reports whether a URL belongs to the site.
func (s *site) isOwn(url string) bool {
	return slices.Contains(s.o.Origins, weburl.FromCanonical(url).Origin())
}

// misspelt lists the robots directives of the page that have no meaning.
func (p *Page) misspelt() (list []string) {
	for _, content := range p.Notes[htmlmeta.NoteRobots] {
		list = append(list, htmlmeta.Misspelt(content)...)
	}
	return list
}
