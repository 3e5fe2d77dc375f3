package cli

import (
	"context"
	"io"
)

// fetchRobots gets a robots.txt politely.
func fetchRobots(ctx context.Context, u *ui, url string) (robotsText, error) {
	return robotsText{}, usagef("curtsy robots --file robots.txt", "--url is not there yet: %s", url)
}

// fetchSitemap gets a sitemap politely; the caller closes it.
func fetchSitemap(ctx context.Context, u *ui, url string) (io.ReadCloser, error) {
	return nil, usagef("curtsy sitemap FILE", "sitemaps are read from files only, as yet: %s", url)
}
