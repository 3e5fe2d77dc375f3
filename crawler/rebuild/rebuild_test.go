package rebuild_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/crawler/fetch"
	"curtsy/crawler/rebuild"
	"curtsy/internal/testkit/crawltest"
)

// A rebuild restores each URL with its state and rule, except what no record tells, which is left to
// the next run.
func TestRebuild(t *testing.T) {
	for says, c := range map[string]struct {
		site  string
		waits string // the path that is queued again
	}{
		"pages, one twice":             {"-- / --\n<title>Home</title><a href=/a>a</a> <a href=/b>b</a>\n-- /a --\nsame\n-- /b --\nsame\n", ""},
		"links of a withheld page":     {"-- / --\n<a href=/diary>d</a>\n-- /diary --\nHTTP 200\nContent-Type: text/html\nX-Robots-Tag: noarchive\n\n<a href=/a>a</a>\n-- /a --\nA\n", "/diary"},
		"redirects and errors":         {"-- / --\n<a href=/moved>m</a> <a href=/gone>g</a>\n-- /moved --\nHTTP 301\nLocation: /a\n\n-- /a --\nA\n", ""},
		"rules are asked at each turn": {"-- / --\n<a href=/private/x>p</a>\n-- /robots.txt --\nUser-agent: *\nDisallow: /private/\n", "/private/x"},
		"an empty page":                {"-- / --\n", ""},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			_, seed := crawltest.Site(t, c.site)
			dir := filepath.Join(t.TempDir(), "site")
			crawltest.Archive(t, dir, seed)
			before := rows(t, dir)
			if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
				t.Fatal(err)
			}
			done, err := rebuild.Archive(dir, crawler.Options{Seed: seed, RelNofollow: true,
				Fetch: fetch.Options{AllowHost: seed.Hostname()}})
			if err != nil || len(done.Problems) > 0 {
				t.Fatalf("%+v %v", done, err)
			}
			crawltest.Sound(t, dir)
			after := rows(t, dir)
			for i, r := range after {
				if c.waits != "" && strings.HasSuffix(r.URL, c.waits) && r.State == "queued" && i < len(before) {
					after[i] = before[i]
					c.waits = ""
				}
			}
			if !slices.Equal(after, before) || c.waits != "" {
				t.Errorf("after the rebuild:\n%+v\nbefore:\n%+v\nnot queued: %q", after, before, c.waits)
			}
		})
	}
}

// rows lists the URLs of an archive sorted by name, since a rebuild finds them in another order.
func rows(t *testing.T, dir string) (list []explain.Row) {
	t.Helper()
	found, err := explain.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range found {
		list = append(list, explain.Row{URL: r.URL, State: r.State, Status: r.Status, Kept: r.Kept, Rule: r.Rule})
	}
	slices.SortFunc(list, func(a, b explain.Row) int { return strings.Compare(a.URL, b.URL) })
	return list
}
