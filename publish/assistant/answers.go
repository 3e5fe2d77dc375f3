package assistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
	"curtsy/publish"
	"curtsy/publish/catalog"
	"curtsy/publish/changes"
	"curtsy/publish/replay"
	"curtsy/publish/search"
	"curtsy/usage"
)

// Limits of answers.
const (
	mostHits    = 50
	usualHits   = 10
	mostLinks   = 200
	mostChanges = 100
)

type searchIn struct {
	Query string `json:"query" jsonschema:"words to find"`
	Site  string `json:"site,omitempty" jsonschema:"only the archive of this host"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most so many pages, 50 at most; 10 if absent"`
}

type searchOut struct {
	Pages   []found  `json:"pages"`
	Total   int      `json:"total"`             // pages that match
	Refused []string `json:"refused,omitempty"` // pages that must not be given to a model, with the owner's statement
	Notes   []string `json:"notes,omitempty"`
}

type found struct {
	URL      string `json:"url"`
	Title    string `json:"title"`
	Captured string `json:"captured"`
	Snippet  string `json:"snippet"`
	Lang     string `json:"lang,omitempty"`
}

// search finds pages in all archives, in the order of the archives.
func (s *server) search(ctx context.Context, in searchIn) (any, error) {
	limit := min(cmp.Or(max(in.Limit, 0), usualHits), mostHits)
	out := searchOut{Pages: []found{}}
	for _, f := range s.sources {
		if f.Search == nil || in.Site != "" && in.Site != f.Seed.Host() && in.Site != f.Seed.Hostname() {
			continue
		}
		hits, total, note, err := f.Search(ctx, in.Query, 0, limit)
		if err != nil {
			return nil, err
		}
		out.Total += total
		if note != "" {
			out.Notes = append(out.Notes, f.Name+": "+note)
		}
		for i := range hits {
			if err := s.take(ctx, &out, f, &hits[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// take adds a hit of an archive, if its page may be given to a model.
func (s *server) take(ctx context.Context, out *searchOut, f *replay.Source, h *search.Hit) error {
	if shown, err := replay.Found(ctx, s.sources, h, time.Now()); err != nil || !shown {
		out.Total--
		return err
	}
	p, err := s.findIn(ctx, h.URL, []*replay.Source{f})
	if err != nil {
		return err
	}
	if p.permit.Refuses(usage.AIInput) {
		out.Refused = append(out.Refused, p.allowed().Error())
		return nil
	}
	out.Pages = append(out.Pages, found{h.URL, h.Title, h.Captured.UTC().Format(time.RFC3339), h.Snippet.Text, h.Lang})
	return nil
}

type readIn struct {
	URL  string `json:"url" jsonschema:"the URL of an archived page"`
	Part int    `json:"part,omitempty" jsonschema:"which part of a long page; 1 if absent"`
}

type urlIn struct {
	URL string `json:"url" jsonschema:"a URL"`
}

// parts returns the page of a URL and its text in parts.
func (s *server) parts(ctx context.Context, url string) (*page, []string, error) {
	p, err := s.page(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	text, err := s.textOf(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	return p, partsOf(text), nil
}

func (s *server) read(ctx context.Context, in readIn) (any, error) {
	p, parts, err := s.parts(ctx, in.URL)
	if err != nil {
		return nil, err
	}
	n := cmp.Or(in.Part, 1)
	if n < 1 || n > len(parts) {
		return nil, fmt.Errorf("part %d: %s has %d", n, p.visit.URL, len(parts))
	}
	head := p.cite() + fmt.Sprintf("Part: %d of %d\n", n, len(parts))
	if len(p.permit.Usage) > 0 {
		head += "Usage: " + p.permit.Usage.String() + "\n"
	}
	return head + "\n" + parts[n-1], nil
}

type outlineOut struct {
	URL      string    `json:"url"`
	Title    string    `json:"title"`
	Captured string    `json:"captured"`
	Parts    int       `json:"parts"`
	Headings []heading `json:"headings"`
}

func (s *server) outline(ctx context.Context, in urlIn) (any, error) {
	p, parts, err := s.parts(ctx, in.URL)
	if err != nil {
		return nil, err
	}
	return outlineOut{p.visit.URL, p.visit.Title, captured(p.visit), len(parts), headingsOf(parts)}, nil
}

type linksOut struct {
	URL      string `json:"url"`
	Captured string `json:"captured"`
	Links    []link `json:"links"`
	More     int    `json:"more,omitempty"` // links not listed
}

type link struct {
	URL      string `json:"url"`
	Rel      string `json:"rel,omitempty"`
	Archived bool   `json:"archived"`
}

func (s *server) links(ctx context.Context, in urlIn) (any, error) {
	p, err := s.page(ctx, in.URL)
	if err != nil {
		return nil, err
	}
	out := linksOut{URL: p.visit.URL, Captured: captured(p.visit), Links: []link{}}
	all, err := publish.Links(p.Archive, p.visit)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		switch {
		case l.Kind != htmlmeta.Navigation:
			continue
		case len(out.Links) == mostLinks:
			out.More++
			continue
		}
		captures, err := p.source.Catalog.Captures(ctx, l.URL)
		if err != nil {
			return nil, err
		}
		out.Links = append(out.Links, link{l.URL.String(), l.Rel, slices.ContainsFunc(captures, good)})
	}
	return out, nil
}

// good reports whether a capture has a page, or redirects to one.
func good(c catalog.Capture) bool { return c.HasBody() && c.Status < 400 }

type changesIn struct {
	Site  string `json:"site,omitempty" jsonschema:"the host of an archive; the first archive if absent"`
	Since string `json:"since,omitempty" jsonschema:"a date or an RFC 3339 time; the last update if absent"`
}

type changesOut struct {
	Site    string         `json:"site"`
	Since   string         `json:"since"`
	Changes []changes.JSON `json:"changes"`
	More    int            `json:"more,omitempty"`    // changes not listed
	Refused int            `json:"refused,omitempty"` // pages that must not be given to a model
}

func (s *server) changes(ctx context.Context, in changesIn) (any, error) {
	f, err := s.source(in.Site)
	if err != nil {
		return nil, err
	}
	r, err := f.Reading(ctx)
	if err != nil {
		return nil, err
	}
	o := changes.Options{Now: time.Now()}
	if o.Since, err = since(in.Since, r.Rounds); err != nil {
		return nil, err
	}
	out := changesOut{Site: f.Seed.String(), Since: o.Since.UTC().Format(time.RFC3339), Changes: []changes.JSON{}}
	for c, err := range changes.Of(ctx, r.Archive, o) {
		if err != nil {
			return nil, err
		}
		permit, err := replay.Withdrawn(ctx, s.sources, c.URL, c.Now.At, time.Now())
		if !permit.Quote() {
			c.Passages = nil
		}
		switch {
		case err != nil:
			return nil, err
		case !c.Listed, !permit.Show, !permit.List:
		case c.Usage[usage.AIInput] == usage.No:
			out.Refused++
		case len(out.Changes) == mostChanges:
			out.More++
		default:
			out.Changes = append(out.Changes, c.JSON())
		}
	}
	return out, nil
}

func (s *server) source(site string) (*replay.Source, error) {
	for _, f := range s.sources {
		if site == "" || site == f.Seed.Host() || site == f.Seed.Hostname() || site == f.Name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("no archive of %s", site)
}

func since(text string, rounds []time.Time) (t time.Time, err error) {
	if text == "" {
		if len(rounds) == 0 {
			return t, errors.New("the site has been crawled only once: there is nothing to compare")
		}
		return rounds[len(rounds)-1], nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err = time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return t, fmt.Errorf("since %q: want 2026-01-31 or an RFC 3339 time", text)
}

// explain says what the archives know of a URL. It returns no text of the page.
func (s *server) explain(ctx context.Context, in urlIn) (any, error) {
	u, err := weburl.Parse(in.URL)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL: %w", in.URL, err)
	}
	var b strings.Builder
	for _, f := range s.sources {
		if lines := f.Explain(u); len(lines) > 0 && (f.Seed.Origin() == u.Origin() || len(s.sources) == 1) {
			fmt.Fprintf(&b, "Archive: %s\nURL: %s\n%s\n", f.Name, u, strings.Join(lines, "\n"))
		}
	}
	if b.Len() == 0 {
		return nil, fmt.Errorf("no archive knows of %s", u)
	}
	if p, err := s.find(ctx, in.URL); err == nil {
		fmt.Fprintf(&b, "Captured: %s\n", captured(p.visit))
		for i := range p.permit.Stated.Usage {
			fmt.Fprintf(&b, "Use: %s\n", publish.StatementText(p.permit.Stated, i))
		}
		if err := p.allowed(); err != nil {
			fmt.Fprintf(&b, "Read: %v\n", err)
		}
	}
	return b.String(), nil
}
