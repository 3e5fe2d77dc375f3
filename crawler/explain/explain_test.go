package explain_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/crawler/fetch"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
)

const site = `
-- / --
<title>Home</title><a href="/a">a</a> <a href="/private/b">b</a> <a href="/moved">moved</a> <a href="/diary">diary</a> <a href="/a" rel=nofollow>a</a>
-- /a --
<title>A</title>
-- /moved --
HTTP 301
Location: /a

-- /diary --
HTTP 200
Content-Type: text/html
X-Robots-Tag: noarchive

<title>Diary</title>
-- /robots.txt --
User-agent: *
Disallow: /private/
`

func TestWhatAnArchiveSaysOfItsURLs(t *testing.T) {
	t.Parallel()
	s, seed := crawltest.Site(t, site)
	dir := filepath.Join(t.TempDir(), "site")
	crawltest.Archive(t, dir, seed)
	rows, err := explain.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) weburl.URL { return weburl.MustParse(s.Origin + path) }
	for _, c := range []struct {
		path, state, rule string
		path0             []string // the way from the seed
		decided           string   // the rule that excludes it
		visits            int
	}{
		{"/", "fetched", "", []string{"/"}, "", 1},
		{"/a", "fetched", "", []string{"/", "/a"}, "", 1},
		{"/moved", "fetched", "redirect to " + s.Origin + "/a", []string{"/", "/moved"}, "", 1},
		{"/diary", "fetched", "noarchive (X-Robots-Tag)", []string{"/", "/diary"}, "", 1},
		{"/private/b", "disregarded", "robots.txt: line 2: Disallow: /private/", []string{"/", "/private/b"},
			"robots.txt", 0},
		{"/nowhere", "unknown", "", nil, "", 0},
	} {
		i := slices.IndexFunc(rows, func(r explain.Row) bool { return r.URL == at(c.path).String() })
		if c.state == "unknown" {
			if i >= 0 {
				t.Errorf("%s is listed: %+v", c.path, rows[i])
			}
		} else if i < 0 || rows[i].State != c.state || !strings.Contains(rows[i].Rule, c.rule) {
			t.Errorf("%s is not listed as %s, %q: %+v", c.path, c.state, c.rule, rows)
		}
		x, err := explain.URL(dir, at(c.path),
			crawler.Options{Seed: seed, Fetch: fetch.Options{AllowHost: seed.Hostname()}})
		if err != nil {
			t.Fatal(err)
		}
		var path []string
		for _, step := range x.Path {
			path = append(path, strings.TrimPrefix(step.URL, s.Origin))
		}
		decided := ""
		for _, d := range x.Decisions {
			if d.Decided {
				decided = d.Rule
			}
		}
		if x.State != c.state || !slices.Equal(path, c.path0) || decided != c.decided || len(x.Visits) != c.visits ||
			(x.Due != nil) != (c.visits > 0) {
			t.Errorf("%s: %s by %q over %q, decided by %q, %d visits, due %v", c.path, x.State, x.Reason, path, decided,
				len(x.Visits), x.Due)
		}
	}
}
