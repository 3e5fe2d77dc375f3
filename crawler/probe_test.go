package crawler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler/revisit"
)

// A probe, a made-up URL that shows how a site answers for missing pages, is not a URL of the site: it
// is counted nowhere, whatever the response.
func TestAMadeUpNameCountsNowhere(t *testing.T) {
	t.Parallel()
	const of = `<title>Part</title>All parts are alike, and each of them leads to one more part.`
	for _, missing := range []bool{false, true} {
		s := newSite(t, map[string]page{"/robots.txt": answering(404), "/12": html("the end")})
		for n := range 12 {
			s.pages[fmt.Sprintf("/%d", n)] = html(fmt.Sprintf(`%s<a href=/%d>next</a>`, of, n+1))
		}
		if !missing {
			s.pages["*"] = html(of + `<a href=/0>home</a>`)
		}
		dir := t.TempDir() + "/archive"
		o := options(s.origin + "/0")
		o.Traps.SoftNotFound = 4
		c := crawl(t, dir, o).Counts.OfSite()
		asked := slices.DeleteFunc(s.requests(), func(path string) bool { return !strings.HasPrefix(path, "/curtsy-") })
		if len(asked) != 1 || c.Failed != 0 || c.Discovered != c.Fetched+c.Disregarded {
			t.Fatalf("missing %t: made-up names %q, counts %+v", missing, asked, c)
		}
		if round(t, dir, o, revisit.Options{}); s.times(asked[0]) != 1 {
			t.Errorf("missing %t: %s was visited again", missing, asked[0])
		}
	}
}
