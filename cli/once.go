package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"curtsy/crawler"
	"curtsy/htmlmeta"
	"curtsy/internal/weburl"
)

// once makes options for fetching a single file of u's site, by the defaults
// and CURTSY_… variables.
func once(u *ui, name string) (weburl.URL, crawler.Options, error) {
	url, err := seedURL(name)
	if err != nil {
		return url, crawler.Options{}, err
	}
	c := defaults()
	if err := readEnv(&c, os.LookupEnv); err != nil {
		return url, crawler.Options{}, err
	}
	o, err := crawlOptions(&c, url, u.logger(false))
	var e *exitError
	if errors.As(err, &e) && c.Contact == "" {
		e.try = "CURTSY_CONTACT=you@example.org curtsy …"
	}
	return url, o, err
}

// fetchRobots gets a robots.txt politely.
func fetchRobots(ctx context.Context, u *ui, name string) (robotsText, error) {
	url, o, err := once(u, name)
	if err != nil {
		return robotsText{}, err
	}
	a, err := crawler.FetchRobots(ctx, url, o)
	if err != nil {
		return robotsText{}, exitWith(exitRefused, err, "")
	}
	return robotsText{body: a.Body, status: a.Status, ctype: a.Type, from: url.Origin() + "/robots.txt"}, nil
}

// fetchSitemap gets a sitemap politely; the caller closes it.
func fetchSitemap(ctx context.Context, u *ui, name string) (io.ReadCloser, error) {
	p, err := fetchOnce(ctx, u, name)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(p.Body)), nil
}

// fetchPage gets a page politely; the lines of header are added to its own.
func fetchPage(ctx context.Context, u *ui, name string, header http.Header) (htmlmeta.Page, error) {
	p, err := fetchOnce(ctx, u, name)
	if err != nil {
		return htmlmeta.Page{}, err
	}
	for name, lines := range header {
		p.Header[name] = append(p.Header[name], lines...)
	}
	return htmlmeta.Page{URL: p.URL, Header: p.Header, Body: p.Body}, nil
}

func fetchOnce(ctx context.Context, u *ui, name string) (*crawler.Page, error) {
	url, o, err := once(u, name)
	if err != nil {
		return nil, err
	}
	p, err := crawler.FetchPage(ctx, url, o)
	var denied *crawler.DeniedError
	if errors.As(err, &denied) {
		return nil, exitWith(exitRefused, err, "save the file and name it")
	}
	if err != nil {
		return nil, err
	}
	if p.URL != url {
		u.say("%s redirects to %s", url, p.URL)
	}
	if p.Status != http.StatusOK {
		u.say("%s answered %d", p.URL, p.Status)
	}
	return p, nil
}
