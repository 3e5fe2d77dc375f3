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

// RobotsAnswer is the response to a request for robots.txt.
type RobotsAnswer struct {
	Status int
	Type   string
	Body   []byte
}

// FetchRobots fetches the robots.txt of u's origin as a crawl would, redirects included. The error
// says why it is unavailable.
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

// NoRobotsError reports that a URL is not fetched because the robots.txt that might deny it is
// unavailable (RFC 9309 §2.3.1.4).
type NoRobotsError struct {
	Robots string // its URL
	Why    string
}

func (e *NoRobotsError) Error() string {
	return "robots.txt is unavailable: " + e.Robots + ": " + e.Why
}

// noRobots returns an UnreachableError if there was no connection, else a NoRobotsError.
func noRobots(u weburl.URL, f *robotstxt.Answer) error {
	if err := crawler.CannotReach(u, f.Err); err != nil {
		return err
	}
	return &NoRobotsError{Robots: robotstxt.URL(u.Origin()).String(), Why: f.Failed}
}

// DeniedError reports that robots.txt denies a URL.
type DeniedError struct {
	URL string
	By  string
}

func (e *DeniedError) Error() string { return e.URL + " is denied by " + e.By }

// Page is one page, fetched to be displayed.
type Page struct {
	URL    weburl.URL // the target of all redirects
	Status int
	Header http.Header
	Body   []byte
}

// maxOnce bounds the decoded octets of a page.
const maxOnce = 64 << 20

// FetchPage fetches one page as a crawl would: robots.txt first, at the host's pace, and each redirect
// target is judged too. Nothing is archived.
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
			err = nil // a broken body is shown as far as it came
		}
		return page, err
	}
	return nil, fmt.Errorf("%s: more than %d redirects in a row", u, judge.MaxRedirects)
}

func newPreviewer(o crawler.Options) *previewer {
	o = o.WithDefaults()
	o.Fetch.SpillAt = sitemap.MaxBytes // bodies are held in memory, or truncated there
	return &previewer{o: o, client: fetch.New(o.Fetch), paces: map[string]*politeness.Host{},
		robots: map[string]*robotstxt.Answer{}, scope: judge.Settings{Scope: o.Scope}, seen: map[weburl.URL]bool{}}
}

// judge returns an error if the robots.txt of u's origin denies u or is unavailable.
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
