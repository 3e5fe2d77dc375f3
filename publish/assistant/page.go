package assistant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/replay"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// page is the current capture of a URL, open for reading during a request.
type page struct {
	*replay.Reading
	source *replay.Source
	visit  *crawllog.Visit
	permit publish.Permit
}

// cite gives the page's URL, title and time of capture, one per line.
func (p *page) cite() string {
	return fmt.Sprintf("URL: %s\nTitle: %s\nCaptured: %s\n", p.visit.URL, p.visit.Title, captured(p.visit))
}

func captured(v *crawllog.Visit) string { return v.At.UTC().Format(time.RFC3339) }

// hops is the most redirects followed within an archive.
const hops = 5

// page returns the current page of a URL if its text may be given, following redirects;
// otherwise the error says why not.
func (s *server) page(ctx context.Context, text string) (*page, error) {
	for range hops {
		p, err := s.find(ctx, text)
		if err != nil {
			return nil, err
		}
		if !p.visit.Redirects() {
			return p, p.allowed()
		}
		text = p.visit.Location
	}
	return nil, fmt.Errorf("%s: too many redirects", text)
}

// find returns the current capture of a URL, from the first archive that has one.
func (s *server) find(ctx context.Context, text string) (*page, error) {
	return s.findIn(ctx, text, s.sources)
}

func (s *server) findIn(ctx context.Context, text string, sources []*replay.Source) (*page, error) {
	u, err := weburl.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL: %w", text, err)
	}
	for _, f := range sources {
		if p, err := s.current(ctx, f, u); p != nil || err != nil {
			return p, err
		}
	}
	return nil, fmt.Errorf("%s is not archived; explain says why", u)
}

// current returns the current capture of a URL in an archive; nil if there is none. The latest
// answer in the other archives may withdraw it.
func (s *server) current(ctx context.Context, f *replay.Source, u weburl.URL) (*page, error) {
	h, err := f.History(ctx, u)
	if h == nil || err != nil {
		return nil, err
	}
	v, permit := publish.CurrentPermit(h.Visits, s.o.Now(), h.Find)
	if v == nil || v.Kept == "" {
		return nil, nil
	}
	latest, err := replay.Latest(ctx, s.sources, u, s.o.Now())
	latest.Withdraw(v.At, &permit)
	return &page{Reading: h.Reading, source: f, visit: v, permit: permit}, err
}

// allowed returns an error that says why the text of a page may not be given, or nil.
func (p *page) allowed() error {
	switch {
	case p.permit.Refuses(usage.AIInput):
		return fmt.Errorf("refused: the owner of %s does not allow it to be given to a model: %s",
			p.visit.URL, strings.Join(p.permit.Refusals(usage.AIInput), "; "))
	case !p.permit.Show:
		return fmt.Errorf("%s may not be shown: %s", p.visit.URL, p.permit.Why())
	case p.permit.Snippet != publish.NoLimit:
		return fmt.Errorf("the text of %s may not be given as a whole: %s", p.visit.URL, p.permit.Why())
	case !p.visit.IsCopy():
		return fmt.Errorf("%s has no page: it answered %d", p.visit.URL, p.visit.Status)
	}
	return nil
}

var errNoText = errors.New("it has no text that can be read")
