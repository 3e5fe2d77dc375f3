package crawler_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/crawler/rebuild"
	"curtsy/crawler/verify"
	"curtsy/internal/testkit/sitetest"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// rebuilt rebuilds the index and checks the archive.
func rebuilt(t *testing.T, dir string, o crawler.Options) *rebuild.Done {
	t.Helper()
	d, err := rebuild.Archive(dir, o)
	if err != nil {
		t.Fatalf("rebuild: %v", err)
	}
	t.Logf("rebuild: %q", d.Said)
	check(t, dir)
	return d
}

// told describes an archive in lines: every URL with its state, and every visit with what is shown of
// it to a person or in a mirror.
func told(t *testing.T, dir string) []string {
	t.Helper()
	list, err := explain.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range list {
		lines = append(lines, fmt.Sprintf("%s: %s, %d, %s, %s", r.URL, r.State, r.Status, r.Kept, r.Rule))
	}
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ids := map[crawllog.Ref]string{}
	if err := sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error {
		if v.Record != nil {
			ids[v.Ref()] = v.Record.ID
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error {
		w := *v
		w.URLID, w.At, w.Took = 0, w.At.Truncate(time.Millisecond), w.Took.Truncate(time.Millisecond)
		refers := ""
		if w.Refers != nil {
			refers = ids[*w.Refers]
		}
		if w.Robots != nil {
			d := *w.Robots
			d.Fetched = d.Fetched.Truncate(time.Millisecond)
			w.Robots = &d
		}
		w.Refers = nil
		b := fmt.Sprintf("%s visit %d: %+v %+v %+v %+v refers to %s", v.URL, v.N, w, w.Record, w.Directives,
			w.Robots, refers)
		w.Record, w.Directives, w.Robots = nil, nil, nil
		lines = append(lines, fmt.Sprintf("%s visit %d: %+v refers %q", v.URL, v.N, w, refers), hexless(b))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// hexless removes pointer addresses from a text.
func hexless(s string) string {
	var words []string
	for w := range strings.FieldsSeq(s) {
		if i := strings.Index(w, ":0x"); i >= 0 {
			w = w[:i]
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// diff reports the lines that differ.
func diff(t *testing.T, got, want []string) {
	t.Helper()
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("new:  %s", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("gone: %s", line)
		}
	}
}

// varied is a site with most of the cases that a rebuild has to handle.
func varied(t *testing.T) *site {
	same := html(strings.Repeat("the same ", 300))
	return newSite(t, map[string]page{
		"/robots.txt": text("User-agent: *\nDisallow: /private\nClean-param: ref /clean\nSitemap: /map.xml\n"),
		"/map.xml": {header: []string{"Content-Type: application/xml"},
			body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>ORIGIN/listed</loc></url><url><loc>ORIGIN/a</loc></url></urlset>`},
		"/":           html(`<title>Home</title><link rel=stylesheet href=/style.css><a href=/a>a</a><a href=/b>b</a><a href=/private/x>x</a><a href=/clean/p?ref=1>c</a><a href=/moved>m</a><a href=/gone>g</a><a href=/late>l</a><a href=/none>n</a><a href=/nofollow>n</a><a rel=nofollow href=/rel>r</a><a href=/cut>c</a><img src=/i.png>`),
		"/cut":        cutOff(strings.Repeat("cut off twice at one place ", 2000)),
		"/style.css":  {header: []string{"Content-Type: text/css"}, body: "body{background:url(/bg.png)}"},
		"/bg.png":     {header: []string{"Content-Type: image/png"}, body: "background"},
		"/i.png":      {header: []string{"Content-Type: image/png"}, body: "background"},
		"/a":          same,
		"/b":          same,
		"/clean/p":    html("clean"),
		"/moved":      redirect("/target?x=1"),
		"/target?x=1": html(`target <a href="/deep/1">deep</a>`),
		"/deep/1":     html(`<a href="/deep/2">deeper</a>`),
		"/deep/2":     html("deep"),
		"/gone":       answering(404),
		"/late":       failing(2, 500, "", html("late")),
		"/none":       html(unkept + ` <a href=/behind>behind</a>`).with("X-Robots-Tag: noarchive"),
		"/behind":     html("behind"),
		"/nofollow":   html(`<meta name=robots content=nofollow><a href=/not>not</a>`),
		"/listed":     html("listed"),
	})
}

func TestRebuildOfAFinishedCrawlTellsWhatItTold(t *testing.T) {
	t.Parallel()
	s := varied(t)
	dir := crawled(t, s)
	o := options(s.URL + "/")
	want := told(t, dir)
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	s.forget()
	d := rebuilt(t, dir, o)
	if d.Queued != 2 || d.Again != 1 { // the withheld page, and the one that robots.txt disallows
		t.Errorf("%d URLs wait, %d again, want 2 and 1", d.Queued, d.Again)
	}
	if r := crawl(t, dir, o); r.Ending != crawler.Done {
		t.Errorf("it ended as %v: %s", r.Ending, r.Why)
	}
	same(t, "requests", s.requests(), []string{"/none"})
	got := slices.DeleteFunc(told(t, dir), func(l string) bool { return strings.Contains(l, "/none visit 2") })
	diff(t, got, want)
	checkRecords(t, records(t, dir))
}

// However crawl.db is lost, the damage is reported, the index is rebuilt, and only what no segment
// tells is requested again.
func TestRebuildOfADestroyedIndex(t *testing.T) {
	long(t)
	t.Parallel()
	s := small(t)
	base := crawled(t, s)
	good, err := os.ReadFile(filepath.Join(base, "crawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	want := told(t, base)
	used := pagesInUse(t, filepath.Join(base, "crawl.db"))
	junk := func(from, to int64) []byte {
		b, r := bytes.Clone(good), rand.New(rand.NewPCG(1, 2))
		for i := from; i < to; i++ {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for name, bad := range map[string][]byte{
		"missing":           nil,
		"empty":             {},
		"text":              bytes.Repeat([]byte("this is no database\n"), 5000),
		"cut to half":       good[:used/2],
		"cut to 100 bytes":  good[:100],
		"meta pages zeroed": append(make([]byte, 8192), good[8192:]...),
		"inner pages junk":  junk(8192, used),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "archive")
			if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
				t.Fatal(err)
			}
			db := filepath.Join(dir, "crawl.db")
			if bad == nil {
				err = os.Remove(db)
			} else {
				err = os.WriteFile(db, bad, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			before := sum(t, dir)
			_, err := verify.Repair(dir, slog.New(slog.DiscardHandler))
			var damage *storage.DamageError
			if !errors.As(err, &damage) || !damage.Index() {
				t.Fatalf("repair says %v, want that the index is damaged", err)
			}
			t.Logf("repair says %v", err)
			s.forget()
			rebuilt(t, dir, options(s.URL+"/"))
			if sum(t, dir) != before {
				t.Error("segments were changed")
			}
			if b, err := os.ReadFile(db + ".damaged"); bad != nil && (err != nil || !bytes.Equal(b, bad)) {
				t.Errorf("the old index is not kept: %v", err)
			}
			if r := crawl(t, dir, options(s.URL+"/")); r.Ending != crawler.Done {
				t.Errorf("it ended as %v: %s", r.Ending, r.Why)
			}
			same(t, "requests", s.requests(), nil)
			diff(t, told(t, dir), want)
		})
	}
}

// A crawl that was killed and lost its index, rebuilt and resumed, ends like an undisturbed one.
func TestRebuildOfAnUnfinishedCrawlLosesNothing(t *testing.T) {
	for _, nth := range []int{3, 12, 30} {
		t.Run(fmt.Sprint(nth), func(t *testing.T) {
			t.Parallel()
			s := grove(t, 60)
			dir := filepath.Join(t.TempDir(), "archive")
			kills := 0
			for kills < 2 && crawlKilled(t, dir, s.URL+"/", fmt.Sprintf("synced:%d", nth), 0) {
				kills++
			}
			if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
				t.Fatal(err)
			}
			held := captures(t, dir)
			s.forget()
			o := victimOptions(s.URL + "/")
			rebuilt(t, dir, o)
			run(t, t.Context(), dir, o)
			for _, target := range s.requests() {
				if held[s.URL+target] && target != "/robots.txt" {
					t.Errorf("%s is captured and was asked for again", target)
				}
			}
			whole(t, s, dir, 60, kills)
		})
	}
}

// captures returns the URLs of which the segments hold an intact response.
func captures(t *testing.T, dir string) map[string]bool {
	t.Helper()
	held := map[string]bool{}
	for _, r := range records(t, dir) {
		if r.kind() == "revisit" || r.kind() == "response" && strings.HasPrefix(string(r.block), "HTTP/1.1 200") {
			held[r.fields["WARC-Target-URI"]] = true
		}
	}
	return held
}

// The index is lost and a segment is damaged: what is intact is kept, the rest is queued.
func TestRebuildPassesOverDamageInSegments(t *testing.T) {
	long(t)
	for name, do := range map[string]func(t *testing.T, path string, r crawllog.Record){
		"an octet of a response": func(t *testing.T, path string,
			r crawllog.Record) {
			flip(t, path, r.Offset+40)
		},
		"an octet of a request": func(t *testing.T, path string,
			r crawllog.Record) {
			flip(t, path, r.Offset+r.Length/2)
		},
		"the last octet of a visit": func(t *testing.T, path string,
			r crawllog.Record) {
			flip(t, path, r.Offset+r.Length-1)
		},
		"the first octet of a record": func(t *testing.T, path string, r crawllog.Record) { flip(t, path, r.Offset) },
		"a torn end": func(t *testing.T, path string, r crawllog.Record) {
			if err := os.Truncate(path, r.Offset+7); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := small(t)
			dir := crawled(t, s)
			target := "/page/c"
			if name == "a torn end" {
				target = lastOn(t, dir)
			}
			path, r := at(t, dir, target)
			do(t, path, r)
			if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
				t.Fatal(err)
			}
			s.forget()
			o := options(s.URL + "/")
			if d := rebuilt(t, dir, o); len(d.Problems) == 0 {
				t.Error("no problem is told")
			}
			crawl(t, dir, o)
			want := []string{target}
			if name == "an octet of a request" || name == "the last octet of a visit" {
				want = nil // the response is intact and kept
			}
			same(t, "fetched again", s.requests(), want)
			checkRecords(t, records(t, dir))
			for target, row := range rows(t, dir) {
				if target != "/private" && row.State != "fetched" {
					t.Errorf("%s is %s", target, row.State)
				}
			}
		})
	}
}

// The robots.txt in force stays in force after a rebuild, also if the last response was 304.
func TestRebuildKeepsRobotsHistory(t *testing.T) {
	t.Parallel()
	s := small(t)
	s.set("/robots.txt", page{serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "robots.txt", time.Time{}, strings.NewReader("User-agent: *\nDisallow: /private\n"))
	}})
	o := options(s.URL + "/")
	o.Pace.Delay, o.MaxRobotsAge = 10*time.Millisecond, 100*time.Millisecond
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, o)
	history := func() (lines []string) {
		a, err := storage.OpenRead(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		list, err := a.Robots(o.Seed.Origin())
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range list {
			body, err := a.RobotsBody(&v)
			lines = append(lines, fmt.Sprintf("%s %d %s %v %q %v", v.At.Format(time.Stamp), v.Status, v.Digest,
				v.Used, body, err))
		}
		return lines
	}
	want := history()
	if len(want) < 2 || !strings.Contains(want[len(want)-1], "Disallow: /private") {
		t.Fatalf("the history of robots.txt: %q", want)
	}
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	rebuilt(t, dir, o)
	same(t, "history", history(), want)
}

// A rebuild that is killed can be repeated.
func TestKilledRebuildIsRepeatable(t *testing.T) {
	long(t)
	s := grove(t, 60)
	dir := filepath.Join(t.TempDir(), "archive")
	o := victimOptions(s.URL + "/")
	run(t, t.Context(), dir, o)
	db := filepath.Join(dir, "crawl.db")
	if err := os.WriteFile(db, []byte("destroyed"), 0o644); err != nil {
		t.Fatal(err)
	}
	before := sum(t, dir)
	s.forget()
	t.Setenv("CURTSY_TEST_REBUILD", "1")
	for _, point := range []string{"committed:1", "before-commit:2", "committed:4"} {
		if !crawlKilled(t, dir, s.URL+"/", point, 0) {
			t.Fatalf("the rebuild passed no %s", point)
		}
		if b, err := os.ReadFile(db); err != nil || string(b) != "destroyed" {
			t.Fatalf("after a kill at %s: %q, %v", point, b, err)
		}
	}
	rebuilt(t, dir, o)
	if sum(t, dir) != before {
		t.Error("segments were changed")
	}
	for _, name := range []string{"crawl.db.rebuilding", "crawl.db.rebuilding-urls"} {
		if _, err := os.Stat(filepath.Join(dir, name)); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	run(t, t.Context(), dir, o)
	same(t, "requests", s.requests(), nil)
	check(t, dir)
}

// Records that are in two segments, as a killed repair leaves them, are counted once.
func TestRebuildTakesCopiesOnce(t *testing.T) {
	t.Parallel()
	s := small(t)
	dir := crawled(t, s)
	o := options(s.URL + "/")
	want := len(rows(t, dir))
	path := segments(t, dir)[0]
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(strings.TrimSuffix(path, ".warc.gz")+"-r1.warc.gz", b[:len(b)*2/3], 0o644)
	}
	if err == nil {
		err = os.Remove(filepath.Join(dir, "crawl.db"))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.forget()
	rebuilt(t, dir, o)
	crawl(t, dir, o)
	same(t, "requests", s.requests(), nil)
	if n := len(rows(t, dir)); n != want {
		t.Errorf("%d URLs are known, want %d", n, want)
	}
}

// Other host names of the site, redirected robots.txt, and sitemap indexes are restored too.
func TestRebuildOfASiteOfManyNames(t *testing.T) {
	t.Parallel()
	robots := text("User-agent: *\nDisallow: /no\nHost: www.example.com\nSitemap: https://www.example.com/index.xml\n")
	xml := func(body string) page { return page{header: []string{"Content-Type: text/xml"}, body: body} }
	s := newSite(t, map[string]page{
		"example.com/robots.txt":     redirect("http://example.com/rules"),
		"example.com/rules":          robots,
		"www.example.com/robots.txt": robots,
		"example.com/":               redirect("https://www.example.com/"),
		"www.example.com/": {serve: func(w http.ResponseWriter, r *http.Request) {
			if r.TLS == nil {
				http.Redirect(w, r, "https://www.example.com/", http.StatusMovedPermanently)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, `<a href=/a></a><a href=http://example.com/b></a><a href=http://elsewhere.example/x></a><a href=/no></a>`)
		}},
		"www.example.com/a":         html(`<a href=/b>b</a><img src=//cdn.example.com/i.png>`),
		"www.example.com/b":         html("b"),
		"example.com/b":             html("another b"),
		"cdn.example.com/i.png":     {header: []string{"Content-Type: image/png"}, body: "picture"},
		"www.example.com/index.xml": xml(`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://www.example.com/child.xml</loc></sitemap></sitemapindex>`),
		"www.example.com/child.xml": xml(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://www.example.com/orphan</loc></url></urlset>`),
		"www.example.com/orphan":    html("orphan"),
	})
	o := options("http://example.com/")
	o.Scope.AnyRequisites = true
	s.reaches(t, &o)
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, o)
	want := told(t, dir)
	if !strings.Contains(strings.Join(want, "\n"), "https://www.example.com/orphan: fetched") {
		t.Fatalf("the crawl before: %q", want)
	}
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	s.forget()
	rebuilt(t, dir, o)
	crawl(t, dir, o)
	same(t, "requests", s.requests(), nil)
	diff(t, told(t, dir), want)
	if !why(t, dir, "https://www.example.com/orphan", o).Orphan {
		t.Error("the orphan is none any more")
	}
}

// Random octets anywhere in crawl.db: if the damage is detected, the index is rebuilt.
func TestRebuildOfAnIndexWithRandomOctets(t *testing.T) {
	long(t)
	t.Parallel()
	s := small(t)
	base := crawled(t, s)
	good, err := os.ReadFile(filepath.Join(base, "crawl.db"))
	if err != nil {
		t.Fatal(err)
	}
	o := options(s.URL + "/")
	n := 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		bad := bytes.Clone(good)
		for i, at := 0, r.IntN(len(bad)-2000); i < 2000; i++ {
			bad[at+i] = byte(r.Uint32())
		}
		dir := filepath.Join(t.TempDir(), "archive")
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "crawl.db"), bad, 0o644); err != nil {
			t.Fatal(err)
		}
		var damage *storage.DamageError
		if _, err := verify.Repair(dir, slog.New(slog.DiscardHandler)); !errors.As(err, &damage) || !damage.Index() {
			continue // the octets were in an unused page
		}
		n++
		s.forget()
		rebuilt(t, dir, o)
		crawl(t, dir, o)
		same(t, "requests", s.requests(), nil)
	}
	if n == 0 {
		t.Errorf("%d of 12 were found to be damaged", n)
	}
}

// URLs whose outcome no record tells are requested again; what a trap rule excluded stays excluded.
func TestRebuildAsksAgainForWhatBroughtNoResponseAndForNothingElse(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/broken", "/n/1"),
		"/broken": {serve: func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				c.Close()
			}
		}}})
	for i := range 60 {
		s.pages[fmt.Sprintf("/n/%d", i)] = links(fmt.Sprintf("/n/%d", i+1), fmt.Sprintf("/n/%d", i+2))
	}
	dir := filepath.Join(t.TempDir(), "archive")
	o := options(s.URL + "/")
	o.Traps.Pattern = 20
	crawl(t, dir, o)
	before := rows(t, dir)
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	s.forget()
	rebuilt(t, dir, o)
	crawl(t, dir, o)
	same(t, "requests", s.requests(), []string{"/broken", "/broken", "/broken"})
	after := rows(t, dir)
	for target, row := range before {
		if got := after[target]; got.State != row.State || got.Rule != row.Rule {
			t.Errorf("%s is %s (%s), it was %s (%s)", target, got.State, got.Rule, row.State, row.Rule)
		}
	}
	if len(after) != len(before) || before["/n/22"].State != "disregarded" {
		t.Errorf("%d URLs are known, they were %d; /n/22 was %+v", len(after), len(before), before["/n/22"])
	}
}

// If the original of a revisit is damaged, both are fetched again.
func TestRebuildWithoutAnOriginalAsksForItsRevisitsToo(t *testing.T) {
	t.Parallel()
	body := html(strings.Repeat("the same ", 500))
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/b", "/c"), "/a": body, "/b": body,
		"/c": html("c")})
	dir := crawled(t, s)
	for _, target := range []string{"/a", "/b"} {
		if rows(t, dir)[target].Kept == "response" {
			path, r := at(t, dir, target)
			flip(t, path, r.Offset+40)
		}
	}
	if err := os.Remove(filepath.Join(dir, "crawl.db")); err != nil {
		t.Fatal(err)
	}
	s.forget()
	rebuilt(t, dir, options(s.URL+"/"))
	crawl(t, dir, options(s.URL+"/"))
	got := s.requests()
	slices.Sort(got)
	same(t, "requests", got, []string{"/a", "/b"})
	checkRecords(t, records(t, dir))
}
