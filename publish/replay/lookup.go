package replay

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/catalog"
	"curtsy/publish/search"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Source is an archive to be replayed.
type Source struct {
	// Open opens the archive in its current state, for one request.
	Open    func() (*Reading, error)
	Catalog *catalog.Catalog
	Name    string // shown if the seed has no title
	Seed    weburl.URL
	// Explain says, in lines, what became of a URL that is not shown.
	Explain func(weburl.URL) []string
	// Search finds pages, and returns their total number and a note on what the index lacks;
	// nil: the archive has no search.
	Search func(ctx context.Context, query string, skip, limit int) (hits []search.Hit, total int, note string,
		err error)
	// Plots returns charts of the archive, and Report a complete HTML page about it; nil: there
	// are none.
	Plots  func(ctx context.Context) ([]Plot, error)
	Report func(ctx context.Context) ([]byte, error)

	token string // of its origin
}

// Reading is an open archive during a request.
type Reading struct {
	Archive *storage.Archive
	State   string      // "finished", or that the crawl is running
	AsOf    time.Time   // when State was true: the end of the crawl, or now
	Rounds  []time.Time // start times of updates
	Names   []string    // origins of the site, that of the pages first
	Holds   crawllog.Counts
	// Fold applies the site's Clean-param, and Form returns the common form of URLs that differ only in a
	// session id or the order of parameters; both report whether that is another URL. nil: none is.
	Fold, Form func(weburl.URL) (weburl.URL, bool)
	Close      func()
}

// readings are the archives opened for a request.
type readings map[*Source]*Reading

type readingsKey struct{}

// WithReadings returns a context whose archives, once they are read, stay open until done is called.
func WithReadings(ctx context.Context) (open context.Context, done func()) {
	l := readings{}
	return context.WithValue(ctx, readingsKey{}, l), l.close
}

// Reading opens an archive once per request, when it is first needed.
func (f *Source) Reading(ctx context.Context) (*Reading, error) {
	open, _ := ctx.Value(readingsKey{}).(readings)
	if open[f] == nil {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		open[f] = r
	}
	return open[f], nil
}

func (l readings) close() {
	for _, r := range l {
		r.Close()
	}
}

// Plot is a chart with its title.
type Plot struct {
	Title string
	SVG   template.HTML
}

// capture is a capture of a URL, with its permit.
type capture struct {
	*crawllog.Visit
	permit  publish.Permit
	rank    crawllog.Rank
	from    *Source
	archive *storage.Archive // where it is read from
	gone    time.Time        // since when the page is gone from the site; zero: it is not
}

// shown reports whether the capture can be shown. Partial content (206) is not shown as if it
// were the document.
func (c *capture) shown() bool {
	return c.permit.Show && c.HasBody() && c.Status != http.StatusPartialContent
}

// captures returns the captures of a URL in all archives, oldest first. The latest answer, in whichever
// archive, withdraws earlier captures of the others too.
func (s *Server) captures(ctx context.Context, u weburl.URL) (list []*capture, err error) {
	histories, err := historiesOf(ctx, s.sources, u)
	for _, h := range histories {
		permits := publish.Permits(h.Visits, s.now(), h.Find)
		since, gone := publish.GoneSince(h.Visits, h.Find)
		if !gone {
			since = time.Time{}
		}
		for i, v := range h.Visits {
			if v.Kept != "" && v.URL == u.String() {
				list = append(list, &capture{v, permits[i], crawllog.StandingOf(v, h.Find).Rank, h.from,
					h.Archive, since})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *capture) int { return a.At.Compare(b.At) })
	latest := latestOf(histories, s.now())
	for _, c := range list {
		latest.Withdraw(c.At, &c.permit)
	}
	return list, err
}

// History is what an archive knows of a URL.
type History struct {
	*Reading
	from   *Source
	Visits []*crawllog.Visit
	Find   crawllog.Lookup
}

// History returns what the archive knows of a URL; nil if it does not know it. Visits come from
// the archive, so that permits never depend on the index.
func (f *Source) History(ctx context.Context, u weburl.URL) (*History, error) {
	rows, err := f.Catalog.Captures(ctx, u)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	reading, err := f.Reading(ctx)
	if err != nil {
		return nil, err
	}
	visits, err := reading.Archive.VisitsOf(rows[0].URLID)
	return &History{reading, f, visits, crawllog.Remember(f.lookup(ctx, reading.Archive))}, err
}

// Latest returns the latest answer of a URL in several archives, for a context made by
// WithReadings. For a single archive it is zero: publish.Permits applies its answer.
func Latest(ctx context.Context, sources []*Source, u weburl.URL, now time.Time) (latest publish.Answer, err error) {
	if len(sources) < 2 {
		return latest, nil
	}
	histories, err := historiesOf(ctx, sources, u)
	return latestOf(histories, now), err
}

// historiesOf returns the histories of a URL in the archives that know it.
func historiesOf(ctx context.Context, sources []*Source, u weburl.URL) (list []*History, err error) {
	for _, from := range sources {
		h, err := from.History(ctx, u)
		if err != nil {
			return nil, err
		}
		if h != nil {
			list = append(list, h)
		}
	}
	return list, nil
}

// latestOf returns the latest answer in several histories; zero for a single one, whose permits have it.
func latestOf(histories []*History, now time.Time) (latest publish.Answer) {
	if len(histories) < 2 {
		return latest
	}
	for _, h := range histories {
		if answer := publish.Latest(h.Visits, now, h.Find); answer.At.After(latest.At) {
			latest = answer
		}
	}
	return latest
}

// Withdrawn is what the latest answer in all archives leaves of a permit without restrictions, for a
// capture that one archive lists.
func Withdrawn(ctx context.Context, sources []*Source, url string, captured, now time.Time) (publish.Permit, error) {
	permit := publish.Permit{Show: true, List: true, Snippet: publish.NoLimit}
	latest, err := Latest(ctx, sources, weburl.FromCanonical(url), now)
	latest.Withdraw(captured, &permit)
	return permit, err
}

// Found reports whether a hit of a search in one archive may be shown beside the others, and takes
// its passage away if a later answer limits it.
func Found(ctx context.Context, sources []*Source, h *search.Hit, now time.Time) (bool, error) {
	permit, err := Withdrawn(ctx, sources, h.URL, h.Captured, now)
	if permit.Snippet != publish.NoLimit {
		h.Snippet = search.Snippet{}
	}
	return permit.Show && permit.List, err
}

// lookup finds the visits of a URL in one archive.
func (f *Source) lookup(ctx context.Context, a *storage.Archive) crawllog.Lookup {
	return func(url string) []*crawllog.Visit {
		rows, err := f.Catalog.Captures(ctx, weburl.FromCanonical(url))
		if err != nil || len(rows) == 0 {
			return nil
		}
		visits, _ := a.VisitsOf(rows[0].URLID) // damaged visits are treated as missing
		return visits
	}
}

// find finds the best capture for an address, and all captures of its URL; best is nil if there
// is none.
func (s *Server) find(ctx context.Context, a address) (best *capture, all []*capture, u weburl.URL, err error) {
	urls, err := s.named(ctx, urlsOf(a.text))
	if err != nil {
		return nil, nil, u, err
	}
	best, all, u, err = s.first(ctx, a, urls)
	if err == nil && best == nil {
		var forms []weburl.URL
		if forms, err = s.forms(ctx, urls); err == nil {
			best, all, u, err = s.first(ctx, a, forms)
		}
	}
	if best == nil && len(urls) > 0 {
		u = urls[0]
	}
	return best, all, u, err
}

// first is find for the first of several URLs that is archived.
func (s *Server) first(ctx context.Context, a address, urls []weburl.URL) (best *capture, all []*capture, u weburl.URL,
	err error) {
	for _, try := range urls {
		if all, err = s.captures(ctx, try); err != nil || len(all) > 0 {
			return nearest(all, a.at), all, try, err
		}
	}
	return nil, nil, u, nil
}

// forms returns the URLs under which the pages of urls may have been fetched instead.
func (s *Server) forms(ctx context.Context, urls []weburl.URL) (list []weburl.URL, err error) {
	for _, from := range s.sources {
		reading, err := from.Reading(ctx)
		if err != nil {
			return nil, err
		}
		for _, u := range urls {
			if !slices.Contains(reading.Names, u.Origin()) || !strings.Contains(u.Target(), "?") {
				continue
			}
			folded := changed(reading.Fold, u)
			list = append(list, folded, changed(reading.Form, folded))
			if reading.Form != nil {
				twins, err := from.twins(ctx, folded, reading.Form)
				if err != nil {
					return nil, err
				}
				list = append(list, twins...)
			}
		}
	}
	return list, nil
}

// changed applies change to a URL, if there is one.
func changed(change func(weburl.URL) (weburl.URL, bool), u weburl.URL) weburl.URL {
	if change != nil {
		if other, ok := change(u); ok {
			return other
		}
	}
	return u
}

// maxTwins is how many captures of a path are searched for another form of a URL.
const maxTwins = 2000

// twins returns the archived URLs whose common form is that of u.
func (f *Source) twins(ctx context.Context, u weburl.URL, form func(weburl.URL) (weburl.URL, bool)) (list []weburl.URL,
	err error) {
	path, _, _ := strings.Cut(u.SURT(), "?")
	looked := 0
	for row, err := range f.Catalog.Range(ctx, path+"?", path+"?\xff") {
		if err != nil {
			return nil, err
		}
		if other := weburl.FromCanonical(row.URL); changed(form, other) == changed(form, u) {
			list = append(list, other)
		}
		if looked++; looked == maxTwins {
			break
		}
	}
	return list, nil
}

// named adds to urls the same URLs under the other origins of their sites, since each page is
// archived under one of them.
func (s *Server) named(ctx context.Context, urls []weburl.URL) ([]weburl.URL, error) {
	for _, from := range s.sources {
		reading, err := from.Reading(ctx)
		if err != nil {
			return nil, err
		}
		for _, u := range slices.Clone(urls) {
			if !slices.Contains(reading.Names, u.Origin()) {
				continue
			}
			for _, name := range reading.Names {
				if other := weburl.FromCanonical(name + u.Target()); !slices.Contains(urls, other) {
					urls = append(urls, other)
				}
			}
		}
	}
	return urls, nil
}

// nearest chooses the capture to show for a time: among those that may be shown the
// highest-ranking, and among equals the nearest in time. If none may be shown, it returns one
// that says why.
func nearest(all []*capture, at time.Time) (best *capture) {
	better := func(a, b *capture) bool {
		if a.shown() != b.shown() {
			return a.shown()
		}
		return cmp.Or(cmp.Compare(a.rank, b.rank), int(cmp.Compare(b.At.Sub(at).Abs(), a.At.Sub(at).Abs()))) > 0
	}
	for _, c := range all {
		if best == nil || better(c, best) {
			best = c
		}
	}
	return best
}
