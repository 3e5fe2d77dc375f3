package cli

import (
	"bufio"
	"io"
	"os"
	"strings"
	"time"

	"curtsy/crawler"
	"curtsy/internal/dates"
	"curtsy/internal/weburl"
)

// readSeeds reads where a crawl starts: the first URL is the seed, others are additional pages.
// With sitemaps only, the site is that of their origin.
func (f *crawlFlags) readSeeds(u *ui, args []string) (seed weburl.URL, err error) {
	for _, s := range f.sitemaps {
		m, bare, err := typedURL(s)
		if err != nil {
			return seed, err
		}
		f.bare = f.bare || bare && len(args) == 0 && f.seeds == ""
		f.given.Sitemaps = append(f.given.Sitemaps, m)
	}
	var pages []weburl.URL
	for i, s := range args {
		p, bare, err := typedURL(s)
		if err != nil {
			return seed, err
		}
		f.bare = f.bare || bare && i == 0
		pages = append(pages, p)
	}
	more, err := f.listed(u.in)
	if err != nil {
		return seed, err
	}
	switch pages = append(pages, more...); {
	case len(pages) > 0:
		f.given.Pages = pages[1:]
		return pages[0], nil
	case len(f.given.Sitemaps) > 0:
		return weburl.Parse(f.given.Sitemaps[0].Origin() + "/")
	}
	return seed, usagef("curtsy crawl https://example.org/ --contact you@example.org",
		"curtsy crawl wants a URL, --seeds FILE or --sitemap URL")
}

// listed reads the URLs of --seeds, without empty lines and comments.
func (f *crawlFlags) listed(stdin io.Reader) (list []weburl.URL, err error) {
	const try = "--seeds with a file of one URL per line"
	if f.seeds == "" {
		return nil, nil
	}
	lines, err := readLines(stdin, f.seeds)
	if err != nil {
		return nil, usagef(try, "seeds: %v", err)
	}
	for n, line := range lines {
		if line == "" {
			continue
		}
		u, bare, err := typedURL(line)
		if err != nil {
			return nil, usagef(try, "%s:%d: %v", f.seeds, n+1, err)
		}
		f.bare = f.bare || bare && len(list) == 0
		list = append(list, u)
	}
	if len(list) == 0 {
		return nil, usagef(try, "%s: contains no URL", f.seeds)
	}
	return list, nil
}

// readLines reads a file, or stdin for "-"; comments, which begin with #, become empty lines.
func readLines(stdin io.Reader, name string) (lines []string, err error) {
	r := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	s := bufio.NewScanner(r)
	for s.Scan() {
		line := strings.TrimSpace(s.Text())
		if strings.HasPrefix(line, "#") {
			line = ""
		}
		lines = append(lines, line)
	}
	return lines, s.Err()
}

// sinceDate parses --since: a date, or a time.
func (f *crawlFlags) sinceDate() (time.Time, error) {
	if f.since == "" {
		return time.Time{}, nil
	}
	t, ok := dates.ParseW3C(f.since)
	if !ok {
		return t, usagef("--since 2026-01-31", "--since %q is not a date", f.since)
	}
	return t, nil
}

// ofTheSite rejects pages of another site, since an archive has one site.
func ofTheSite(o *crawler.Options) error {
	s := o.Scope
	for _, p := range o.Given.Pages {
		if isOfSite(o.Seed, p, &s) {
			continue
		}
		return usagef("curtsy crawl "+quoted(p.String())+" for an archive of its own, or --scope domain",
			"%s is not on the site %s: an archive holds one site", p, o.Seed.Origin())
	}
	return nil
}
