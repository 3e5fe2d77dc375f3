package crawler_test

import (
	"crypto/sha1"
	"path/filepath"
	"testing"

	"curtsy/internal/testkit/sitetest"
	"curtsy/storage/crawllog"
)

// Two different bodies with the same SHA-1 are not deduplicated, also after the index is rebuilt.
func TestTwoBodiesWithOneSHA1AreTwoBodies(t *testing.T) {
	t.Parallel()
	one, two := sitetest.Collision()
	if one == two || sha1.Sum([]byte(one)) != sha1.Sum([]byte(two)) {
		t.Fatal("no collision")
	}
	pdf := func(body string) page { return page{header: []string{"Content-Type: application/pdf"}, body: body} }
	s := newSite(t, map[string]page{"/": links("/1.pdf", "/2.pdf", "/p"), "/p": links("/again.pdf"), "/1.pdf": pdf(one),
		"/2.pdf": pdf(two), "/again.pdf": pdf(one)})
	dir := filepath.Join(t.TempDir(), "archive")
	o := options(s.URL + "/")
	if r := crawl(t, dir, o); r.State.Revisits != 1 {
		t.Errorf("%d revisits, want that of /again.pdf alone", r.State.Revisits)
	}
	kept := func() {
		t.Helper()
		check(t, dir)
		for target, want := range map[string]string{"/1.pdf": crawllog.KeptResponse, "/2.pdf": crawllog.KeptResponse,
			"/again.pdf": crawllog.KeptRevisit} {
			if v := visitsOf(t, dir, s.URL+target); len(v) != 1 || v[0].Kept != want {
				t.Errorf("%s: %+v, want one visit, its %s kept", target, v, want)
			}
		}
	}
	kept()
	rebuilt(t, dir, o)
	kept()
	first, again := visitsOf(t, dir, s.URL+"/1.pdf")[0], visitsOf(t, dir, s.URL+"/again.pdf")[0]
	if again.Refers == nil || *again.Refers != first.Ref() {
		t.Errorf("/again.pdf refers to %+v, want /1.pdf", again.Refers)
	}
}
