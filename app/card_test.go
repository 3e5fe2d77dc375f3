package app

import (
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/internal/testkit/crawltest"
)

// The title of an archive is that of a page that may be listed now: a 304 answer can add
// directives that the stored page did not have.
func TestTheTitleOfAnArchiveIsOneThatMayBeListed(t *testing.T) {
	s, seed := crawltest.Site(t, "-- / --\nHTTP 200\nContent-Type: text/html\nETag: \"1\"\n\n<title>Home</title><p>It stays.\n")
	dir := t.TempDir() + "/a"
	crawltest.Archive(t, dir, seed)
	if got := readCard(dir).Title; got != "Home" {
		t.Errorf("title %q", got)
	}
	if err := s.Set("/", "HTTP 304\nETag: \"1\"\nX-Robots-Tag: noindex\n\n"); err != nil {
		t.Fatal(err)
	}
	crawltest.Archive(t, dir, seed, func(o *crawler.Options) { o.Round = &revisit.Options{} })
	if got := readCard(dir).Title; got != "" {
		t.Errorf("of a page that must not be listed: title %q", got)
	}
}
