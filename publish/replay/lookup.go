package replay

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"slices"
	"time"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/catalog"
	"curtsy/publish/search"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Source is one archive that is replayed.
type Source struct {
	// Open opens the archive as it is now, for one request.
	Open    func() (*Reading, error)
	Catalog *catalog.Catalog
	Name    string // for people, if its seed has no title
	Seed    weburl.URL
	// Explain says in lines what became of a URL that is not shown.
	Explain func(weburl.URL) []string
	// Search finds pages, and says how many there are and what is missing in its
	// index; nil: this archive has no search.
	Search func(ctx context.Context, query string, skip, limit int) (hits []search.Hit, total int, note string,
		err error)
	// Plots are drawings of what is kept, and Report is a whole page about it; nil:
	// there is none.
	Plots  func(ctx context.Context) ([]Plot, error)
	Report func(ctx context.Context) ([]byte, error)

	token string // of its origin
}

// Reading is an archive while one request reads it.
type Reading struct {
	Archive *storage.Archive
	State   string      // "finished", or that the crawl goes on
	AsOf    time.Time   // when that was so: the crawl's end, or now
	Rounds  []time.Time // when the site was visited again
	Names   []string    // origins that count as the site, that of the pages first
	Holds   crawllog.Counts
	Close   func()
}

// readings are the archives that a request has open.
type readings map[*Source]*Reading

type readingsKey struct{}

// reading opens an archive for a request, the first time that it is needed.
func (f *Source) reading(ctx context.Context) (*Reading, error) {
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

// Plot is a drawing with its title.
type Plot struct {
	Title string
	SVG   template.HTML
}

// capture is one capture of a URL, with what may be done with it.
type capture struct {
	*crawllog.Visit
	permit  publish.Permit
	rank    crawllog.Rank
	from    *Source
	archive *storage.Archive // that it is read from
	gone    time.Time        // since when the page is gone from the site; zero if it is not
}

// shown says whether there is anything to show: a part of a document is not shown
// as if it were the document.
func (c *capture) shown() bool {
	return c.permit.Show && c.HasBody() && c.Status != http.StatusPartialContent
}

// captures are those of a URL in all archives, the oldest first.
func (s *Server) captures(ctx context.Context, u weburl.URL) (list []*capture, err error) {
	for _, from := range s.sources {
		rows, err := from.Catalog.Captures(ctx, u)
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			continue
		}
		reading, err := from.reading(ctx)
		if err != nil {
			return nil, err
		}
		// What may be shown, the archive says and not its index.
		visits, err := reading.Archive.VisitsOf(rows[0].URLID)
		if err != nil {
			return nil, err
		}
		find := crawllog.Remember(from.lookup(ctx, reading.Archive))
		permits := publish.Permits(visits, s.now(), find)
		since, gone := publish.GoneSince(visits, find)
		if !gone {
			since = time.Time{}
		}
		for i, v := range visits {
			if v.Kept != "" && v.URL == u.String() {
				list = append(list, &capture{v, permits[i], crawllog.StandingOf(v, find).Rank, from,
					reading.Archive, since})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *capture) int { return a.At.Compare(b.At) })
	return list, nil
}

// lookup finds the visits of a URL of one archive.
func (f *Source) lookup(ctx context.Context, a *storage.Archive) crawllog.Lookup {
	return func(url string) []*crawllog.Visit {
		rows, err := f.Catalog.Captures(ctx, weburl.FromCanonical(url))
		if err != nil || len(rows) == 0 {
			return nil
		}
		visits, _ := a.VisitsOf(rows[0].URLID) // what is damaged leads nowhere
		return visits
	}
}

// find looks for a capture that an address may mean; all are the captures of
// its URL. nil if there is none.
func (s *Server) find(ctx context.Context, a address) (best *capture, all []*capture, u weburl.URL, err error) {
	urls, err := s.named(ctx, urlsOf(a.text))
	if err != nil {
		return nil, nil, u, err
	}
	for _, try := range urls {
		if all, err = s.captures(ctx, try); err != nil || len(all) > 0 {
			return nearest(all, a.at), all, try, err
		}
	}
	if len(urls) > 0 {
		u = urls[0]
	}
	return nil, nil, u, nil
}

// named adds to the URLs that an address may mean those under the other names of
// their sites: each page is kept under one of them.
func (s *Server) named(ctx context.Context, urls []weburl.URL) ([]weburl.URL, error) {
	for _, from := range s.sources {
		reading, err := from.reading(ctx)
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

// nearest is the capture to show for a time: of those that may be shown the one
// that stands highest, and of equals the nearest. Where none may be shown, one
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
