package preview

import (
	"context"
	"fmt"
	"net/http"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/crawler/robotstxt"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/politeness/rules"
	"curtsy/sitemap"
)

// RobotsAnswer is a robots.txt as it was answered.
type RobotsAnswer struct {
	Status int
	Type   string
	Body   []byte
}

// FetchRobots asks for the robots.txt of u's origin, as a crawl would, with
// its redirects followed. The error says why it is unavailable.
func FetchRobots(ctx context.Context, u weburl.URL, o crawler.Options) (RobotsAnswer, error) {
	p := newPreviewer(o)
	defer p.client.Close()
	f := p.robotsOf(ctx, u.Origin())
	a := RobotsAnswer{Status: f.Version.Status, Type: f.Version.Type, Body: f.Body}
	if f.Failed != "" && rules.ResponseAccess(a.Status, a.Type, o.Rules) != rules.Refused || a.Status == 0 {
		return a, noRobots(u, f)
	}
	return a, nil
}

// NoRobotsError says that a URL is left alone since robots.txt, which might
// deny it, is unavailable (RFC 9309 §2.3.1.4).
type NoRobotsError struct {
	Robots string // its URL
	Why    string
}

func (e *NoRobotsError) Error() string {
	return "robots.txt is unavailable: " + e.Robots + ": " + e.Why
}

// noRobots says that there was no connection at all, or what is wrong with the
// robots.txt.
func noRobots(u weburl.URL, f *robotstxt.Answer) error {
	if err := crawler.CannotReach(u, f.Err); err != nil {
		return err
	}
	return &NoRobotsError{Robots: robotstxt.URL(u.Origin()).String(), Why: f.Failed}
}

// DeniedError says that robots.txt denies a URL that somebody asked for.
type DeniedError struct {
	URL string
	By  string
}

func (e *DeniedError) Error() string { return e.URL + " is denied by " + e.By }

// Page is one page, fetched for a person to look at.
type Page struct {
	URL    weburl.URL // where the redirects led
	Status int
	Header http.Header
	Body   []byte
}

// maxOnce is what is read of a page that a person looks at.
const maxOnce = 64 << 20

// FetchPage fetches one page as a crawl would: robots.txt first, at its pace,
// redirects followed and each judged. Nothing is kept.
func FetchPage(ctx context.Context, u weburl.URL, o crawler.Options) (*Page, error) {
	p := newPreviewer(o)
	defer p.client.Close()
	for range judge.MaxRedirects + 1 {
		if err := p.judge(ctx, u); err != nil {
			return nil, err
		}
		x, err := p.get(ctx, u)
		if err != nil {
			return nil, err
		}
		if x.Err != nil {
			x.Release()
			return nil, x.Err
		}
		if x.Status >= 300 && x.Status < 400 && x.Header.Get("Location") != "" {
			target, err := u.Resolve(x.Header.Get("Location"))
			x.Release()
			if err != nil {
				return nil, fmt.Errorf("%s redirects to no usable URL: %w", u, err)
			}
			u = target
			continue
		}
		body, _, err := x.Decoded(maxOnce)
		page := &Page{URL: u, Status: x.Status, Header: x.Header, Body: append([]byte{}, body...)}
		x.Release()
		if len(page.Body) > 0 {
			err = nil // what came is what a person may look at
		}
		return page, err
	}
	return nil, fmt.Errorf("%s: more than %d redirects in a row", u, judge.MaxRedirects)
}

func newPreviewer(o crawler.Options) *previewer {
	o = o.WithDefaults()
	o.Fetch.SpillAt = sitemap.MaxBytes // in memory, or cut there
	return &previewer{o: o, client: fetch.New(o.Fetch), paces: map[string]*politeness.Host{},
		robots: map[string]*robotstxt.Answer{}, scope: judge.Settings{Scope: o.Scope}, seen: map[weburl.URL]bool{}}
}

// judge asks the robots.txt of u's origin.
func (pv *previewer) judge(ctx context.Context, u weburl.URL) error {
	f := pv.robotsOf(ctx, u.Origin())
	if f.Failed != "" {
		return noRobots(u, f)
	}
	if v := f.Rules.Verdict(u.Target()); !v.Allow {
		return &DeniedError{URL: u.String(), By: fmt.Sprintf("robots.txt: line %d: %s", v.Line, v.Rule)}
	}
	return nil
}
