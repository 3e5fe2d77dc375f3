package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"

	"curtsy/crawler"
	"curtsy/crawler/preview"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// once makes options for fetching a single file of a site, from the defaults, CURTSY_…
// variables and, if not empty, the contact.
func once(u *ui, name, contact string) (weburl.URL, crawler.Options, error) {
	url, err := seedURL(name)
	if err != nil {
		return url, crawler.Options{}, err
	}
	c := defaults()
	if err := u.readEnv(&c); err != nil {
		return url, crawler.Options{}, err
	}
	c.Contact = cmp.Or(contact, c.Contact)
	o, err := crawlOptions(&c, url, u.logger(false))
	return url, o, err
}

// fetchRobots fetches a robots.txt politely.
func fetchRobots(ctx context.Context, u *ui, name, contact string) (robotsText, error) {
	url, o, err := once(u, name, contact)
	if err != nil {
		return robotsText{}, err
	}
	a, err := preview.FetchRobots(ctx, url, o)
	if err != nil {
		return robotsText{}, onceError(err)
	}
	return robotsText{body: a.Body, status: a.Status, ctype: a.Type, from: url.Origin() + "/robots.txt"}, nil
}

// fetchSitemap fetches a sitemap politely; the caller closes it.
func fetchSitemap(ctx context.Context, u *ui, name, contact string) (io.ReadCloser, error) {
	p, err := fetchOnce(ctx, u, name, contact)
	if err != nil {
		return nil, err
	}
	if p.Status != http.StatusOK {
		return nil, exitWith(exitFailed, fmt.Errorf("%s answered %d", p.URL, p.Status),
			"the URL that robots.txt names: curtsy robots --url "+p.URL.Origin()+"/")
	}
	return io.NopCloser(bytes.NewReader(p.Body)), nil
}

// fetchPage fetches a page politely, whatever its status. The lines of header are added to the
// response header.
func fetchPage(ctx context.Context, u *ui, name, contact string, header http.Header) (htmlmeta.Page, error) {
	p, err := fetchOnce(ctx, u, name, contact)
	if err != nil {
		return htmlmeta.Page{}, err
	}
	if p.Status != http.StatusOK {
		u.say("%s answered %d", p.URL, p.Status)
	}
	for name, lines := range header {
		p.Header[name] = append(p.Header[name], lines...)
	}
	return htmlmeta.Page{URL: p.URL, Header: p.Header, Body: p.Body}, nil
}

func fetchOnce(ctx context.Context, u *ui, name, contact string) (*preview.Page, error) {
	url, o, err := once(u, name, contact)
	if err != nil {
		return nil, err
	}
	p, err := preview.FetchPage(ctx, url, o)
	if err != nil {
		return nil, onceError(err)
	}
	if p.URL != url {
		u.say("%s redirects to %s", url, p.URL)
	}
	return p, nil
}

// onceError adds an exit code to an error of fetching a single file.
func onceError(err error) error {
	switch {
	case isA[*preview.DeniedError](err):
		return exitWith(exitRefused, err, "save the file yourself and give its name")
	case isA[*preview.NoRobotsError](err):
		return exitWith(exitRefused, err, "the same command, later")
	case isA[*crawler.UnreachableError](err):
		return exitWith(exitFailed, err, unreachableHint(err))
	}
	return exitWith(exitFailed, err, "the same command, later")
}
