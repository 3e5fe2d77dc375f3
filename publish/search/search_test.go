package search_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
	"curtsy/publish/catalog"
	"curtsy/publish/search"
	"curtsy/storage"
)

const site = `
-- / --
<!DOCTYPE html><html lang="en"><title>Start</title><nav>navigation words</nav><p>The home page of gardens.
<a href="/roses">Roses</a> <a href="/noindex">1</a> <a href="/none">2</a> <a href="/header">3</a> <a href="/expired">4</a> <a href="/later">5</a>
<a href="/nosnippet">6</a> <a href="/short">7</a> <a href="/quiet">8</a> <a href="/images">9</a> <a href="/noarchive">10</a> <a href="/ru">11</a>
<a href="/plain.txt">12</a> <a href="/gone">13</a> <a href="/bg">14</a> <a href="/ja">15</a> <a href="/uk">16</a> <a href="/old">17</a> <a href="/evil">18</a> <img src="/rose.png">
-- /roses --
<html lang="en"><title>Pruning roses</title><h1>Pruning roses</h1><p>Roses are pruned in early spring. See <b>java.util.List</b> too.<p>Another paragraph of peculiarity.
-- /noindex --
<meta name="robots" content="noindex"><title>zebra noindex</title><p>zebra
-- /none --
<meta name="robots" content="none"><title>zebra none</title><p>zebra
-- /header --
HTTP 200
Content-Type: text/html
X-Robots-Tag: noindex

<title>zebra header</title><p>zebra
-- /expired --
<meta name="robots" content="unavailable_after: 2001-01-01"><title>zebra expired</title><p>zebra
-- /later --
<meta name="robots" content="unavailable_after: 2090-01-01"><title>later</title><p>giraffe until then
-- /noarchive --
<meta name="robots" content="noarchive"><title>zebra noarchive</title><p>zebra
-- /nosnippet --
<meta name="robots" content="nosnippet"><title>N</title><p>elephant text that must not be shown
-- /short --
<meta name="robots" content="max-snippet:12"><title>S</title><p>hippopotamus text of which little is shown
-- /quiet --
<title>Q</title><p>open rhinoceros <span data-nosnippet>secret crocodile</span> open end
-- /images --
<meta name="robots" content="noimageindex"><title>I</title><p>antelope <img src="/rose.png" alt="a picture">
-- /rose.png --
HTTP 200
Content-Type: image/png

antelope
-- /ru --
<html lang="ru"><title>Слои изображения</title><p>Каждое изображение состоит из слоёв. Layers are words of English.
-- /bg --
<html lang="bg"><title>Градове</title><p>Големите градове на страната
-- /uk --
<html lang="uk"><title>Об'єднання</title><p>Кожне зображення має шари
-- /ja --
<html lang="ja"><title>検索</title><p>日本語の全文検索です
-- /plain.txt --
HTTP 200
Content-Type: text/plain; charset=utf-8

A plain text about wombats.
-- /old --
HTTP 301
Location: /roses

-- /evil --
<title>evil ` + "\x1b[31m" + ` title</title><p>platypus ` + "\x1b]0;x\x07" + ` text
`

// index crawls the site and opens its search with a clock.
func index(t *testing.T, now func() time.Time) (*search.Searcher, *storage.Archive, *catalog.Catalog, string) {
	t.Helper()
	s, seed := crawltest.Site(t, site)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	cat, err := catalog.Open(t.Context(), a, catalog.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cat.Close() })
	x, err := search.Open(t.Context(), cat, a, search.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x, a, cat, s.Origin
}

// found returns the paths of the hits, best first.
func found(t *testing.T, x *search.Searcher, origin, query string) string {
	t.Helper()
	hits, err := x.Search(t.Context(), search.Query{Text: query})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var paths []string
	for i, h := range hits.Hits {
		if h.Rank != i+1 {
			t.Errorf("%s: hit %d has rank %d", query, i, h.Rank)
		}
		paths = append(paths, strings.TrimPrefix(h.URL, origin))
	}
	return strings.Join(paths, " ")
}

func TestSearch(t *testing.T) {
	x, _, _, origin := index(t, time.Now)
	for _, c := range []struct{ says, query, want string }{
		{"a word", "gardens", "/"},
		{"any form of it, the title first", "rose", "/roses /"},
		{"all words", "prune rose", "/roses"},
		{"a phrase", `"early spring"`, "/roses"},
		{"a phrase that is none", `"spring early"`, ""},
		{"a name is a phrase", "java.util.List", "/roses"},
		{"a prefix is one of words, not of stems", "peculiari*", "/roses"},
		{"a question, of whose words no page has all", "how are roses pruned in winter", "/roses /"},
		{"its telling words alone, none together on a page", "why giraffe and wombat", "/later /plain.txt"},
		{"what it must not have", "how are roses pruned in winter -spring", "/"},
		{"two words are no question", "rose wombat", ""},
		{"not", "rose -spring", "/"},
		{"not a phrase", `rose -"early spring"`, "/"},
		{"only not", "-rose", ""},
		{"title", "title:prune", "/roses"},
		{"url", "url:roses", "/roses"},
		{"part of the site", "rose site:" + strings.TrimPrefix(origin, "http://") + "/ro", "/roses"},
		{"another site", "rose site:elsewhere.invalid", ""},
		{"navigation is not text", "navigation", ""},
		{"Russian forms", "слоями изображений", "/ru"},
		{"е for ё", "слоев", "/ru"},
		{"English words in a Russian page", "layer", "/ru"},
		{"Bulgarian forms", "градът", "/bg"},
		{"Ukrainian", "зображення", "/uk"},
		{"Ukrainian with another apostrophe", "об’єднання", "/uk"},
		{"Japanese", "全文検索", "/ja"},
		{"one letter of Japanese", "語", "/ja"},
		{"plain text", "wombat", "/plain.txt"},
		{"nothing asked for", " ", ""},
		{"only signs", `"" * -`, ""},
		{"SQL and FTS5 are nothing special", `" OR NEAR( AND ) NOT ^ { title } : '; DROP`, ""},
	} {
		if got := found(t, x, origin, c.query); got != c.want {
			t.Errorf("%s: %s: got %q, want %q", c.says, c.query, got, c.want)
		}
	}
	if hits, err := x.Search(t.Context(), search.Query{Text: "layer", Lang: "en"}); err != nil || len(hits.Hits) > 0 {
		t.Errorf("--lang en: %v, %v", hits, err)
	}
	if hits, err := x.Search(t.Context(), search.Query{Text: "слой", Lang: "ru"}); err != nil || len(hits.Hits) != 1 {
		t.Errorf("--lang ru: %v, %v", hits, err)
	}
}

func TestPermits(t *testing.T) {
	now := time.Now()
	x, a, cat, origin := index(t, func() time.Time { return now })
	if got := found(t, x, origin, "zebra"); got != "" {
		t.Errorf("noindex, none, X-Robots-Tag, unavailable_after, noarchive: found %s", got)
	}
	if got := found(t, x, origin, "giraffe"); got != "/later" {
		t.Errorf("before unavailable_after: found %q", got)
	}
	for query, want := range map[string]string{
		"elephant":     "",
		"hippopotamus": "hippopotamus",
		"rhinoceros":   "open rhinoceros … open end",
		"crocodile":    "open rhinoceros … open end", // searched, but not shown
		"antelope":     "antelope",                   // the page, not the picture
	} {
		hits, err := x.Search(t.Context(), search.Query{Text: query})
		if err != nil || len(hits.Hits) != 1 || hits.Hits[0].Snippet.Text != want {
			t.Errorf("%s: %+v, %v", query, hits, err)
		}
	}
	now = time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)
	if got := found(t, x, origin, "giraffe"); got != "" {
		t.Errorf("from unavailable_after on: found %q", got)
	}
	// A page that was indexed and is forbidden since is not found either: each query checks the
	// permits.
	if _, err := cat.DB().Exec(`INSERT INTO docs SELECT id >> 20, 0, id & 1048575, url, 'zebra', 'en', 0, 'zebra', 'zebra', '' FROM captures WHERE url LIKE '%/noindex';
		INSERT INTO idx(rowid, title, head, body, url) SELECT id, 'zebra', '', 'zebra', '' FROM docs WHERE title = 'zebra'`); err != nil {
		t.Fatal(err)
	}
	if got := found(t, x, origin, "zebra"); got != "" {
		t.Errorf("in the index, and forbidden: found %q", got)
	}
	for path, why := range map[string]string{"/noindex": "noindex", "/none": "none", "/expired": "unavailable_after",
		"/noarchive": "noarchive", "/rose.png": "image/png", "/old": "status 301", "/gone": "status 404"} {
		list, err := cat.Captures(t.Context(), weburl.MustParse(origin+path))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", path, list, err)
		}
		visits, err := a.VisitsOf(list[0].URLID)
		if err != nil {
			t.Fatal(err)
		}
		if _, v := search.Judge(visits, time.Now(), nil); v.Searchable || !strings.Contains(v.Why, why) {
			t.Errorf("%s: %+v", path, v)
		}
	}
}

func TestSnippetMarks(t *testing.T) {
	x, _, _, _ := index(t, time.Now)
	hits, err := x.Search(t.Context(), search.Query{Text: "pruning spring"})
	if err != nil || len(hits.Hits) != 1 {
		t.Fatal(hits, err)
	}
	s, marked := hits.Hits[0].Snippet, []string{}
	for _, m := range s.Marks {
		marked = append(marked, s.Text[m[0]:m[1]])
	}
	if got := strings.Join(marked, " "); got != "pruned spring" {
		t.Errorf("marked %q in %q", got, s.Text)
	}
}

// There are always as many documents as rows in the full-text index.
func TestIndexIsWhole(t *testing.T) {
	x, a, cat, origin := index(t, time.Now)
	before := x.Documents()
	for _, change := range []string{
		`INSERT INTO todo SELECT DISTINCT id >> 20 FROM captures`, // all of them again
		`DELETE FROM captures WHERE url LIKE '%/roses'; DELETE FROM state`,
	} {
		if _, err := cat.DB().Exec(change); err != nil {
			t.Fatal(err)
		}
		if err := cat.Refresh(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if err := search.Update(t.Context(), cat, a, search.Options{}); err != nil {
			t.Fatal(err)
		}
		var docs, postings, titles int
		row := cat.DB().QueryRow(`SELECT (SELECT count(*) FROM docs), (SELECT count(*) FROM idx), (SELECT docs FROM titles WHERE stem = 'rose')`)
		if err := row.Scan(&docs, &postings, &titles); err != nil || docs != before ||
			postings != before || titles != 1 {
			t.Errorf("after %s: %d documents, %d postings, %d titles with roses, before %d: %v", change, docs, postings,
				titles, before, err)
		}
	}
	if got := found(t, x, origin, "rose"); got != "/roses /" {
		t.Errorf("found %s", got)
	}
}

// An index that is updated during a crawl, and over rounds that change pages, counts links like
// one that is built at the end.
func TestAnIndexBuiltOnTheWayIsTheSame(t *testing.T) {
	s, seed := crawltest.Site(t, site)
	dir, cache := filepath.Join(t.TempDir(), "archive"), t.TempDir()
	inlinks := func(dir string) (list []string) {
		t.Helper()
		a, err := storage.OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		cat, err := catalog.Open(t.Context(), a, catalog.Options{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		defer cat.Close()
		x, err := search.Open(t.Context(), cat, a, search.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		rows, err := cat.DB().Query(`SELECT d.url, coalesce(l.pages, 0), d.lang FROM docs d LEFT JOIN inlinks l ON l.name = d.name ORDER BY d.id`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var url, lang string
			var pages int
			if err := rows.Scan(&url, &pages, &lang); err != nil {
				t.Fatal(err)
			}
			list = append(list, strings.TrimPrefix(url, s.Origin)+" "+strconv.Itoa(pages)+" "+lang)
		}
		return append(list, found(t, x, s.Origin, "rose"))
	}
	for i, set := range []map[string]string{
		nil,
		{"/": "<title>Start</title><p>roses <a href=/roses>R</a> <a href=/new>N</a> <a href=/ru>11</a>",
			"/new": "<title>New roses</title><a href=/roses>R</a><a href=/later>L</a>"},
		{"/": "<title>Start</title><a href=/new>N</a>", "/roses": "HTTP 410\n\ngone"},
	} {
		for target, content := range set {
			if err := s.Set(target, content); err != nil {
				t.Fatal(err)
			}
		}
		for _, pages := range []int{2, 5, 0} { // as a crawl proceeds
			crawltest.Archive(t, dir, seed, func(o *crawler.Options) {
				if o.Limits.Pages = pages; i > 0 && pages == 2 {
					o.Limits.Pages, o.Round = 0, &revisit.Options{}
				}
			})
			anew := filepath.Join(t.TempDir(), "archive")
			if err := errors.Join(os.CopyFS(anew, os.DirFS(dir)),
				os.Remove(filepath.Join(anew, "index.db"))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if got, want := inlinks(dir), inlinks(anew); !slices.Equal(got, want) {
				t.Errorf("after change %d, %d pages:\n%q\nwant\n%q", i, pages, got, want)
			}
		}
	}
}
