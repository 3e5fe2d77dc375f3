package crawler_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/frontier/judge"
)

func TestEachLimitEndsTheCrawlByNameAndRaisedItGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		set func(*crawler.Options)
		why string
	}{
		"pages": {func(o *crawler.Options) { o.Limits.Pages = 3 }, "max-pages 3 is reached"},
		"bytes": {func(o *crawler.Options) { o.Limits.Bytes = 2000 }, "max-bytes 2000 is reached"},
		"time":  {func(o *crawler.Options) { o.Limits.Time = 30 * time.Millisecond; o.Pace.Delay = 10 * time.Millisecond }, "max-time 30ms is over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pages := chain(30)
			for target, p := range pages {
				p.body += strings.Repeat("x", 400)
				pages[target] = p
			}
			s := newSite(t, pages)
			dir := t.TempDir()
			o := options(s.URL + "/")
			c.set(&o)
			o.Pace.Concurrency = 4
			r := crawl(t, dir, o)
			if r.Ending != crawler.Limited || r.Why != c.why {
				t.Errorf("ended as %v: %s; want limited: %s", r.Ending, r.Why, c.why)
			}
			if name == "pages" && (r.State.Pages != 3 || s.times("/p/2") != 0) {
				t.Errorf("%d pages, requests %q", r.State.Pages, s.requests())
			}
			if st, err := status.Read(dir); err != nil || st.State != "limited" || st.Why != c.why || st.Queued == 0 {
				t.Errorf("status %+v, %v", st, err)
			}
			again := options(s.URL + "/")
			if r = crawl(t, dir, again); r.Ending != crawler.Done || r.Counts.Fetched != 32 {
				t.Errorf("without the limit it ended as %v (%s), %d fetched; want 32 with robots.txt", r.Ending, r.Why,
					r.Counts.Fetched)
			}
			for _, target := range s.requests() {
				if target != "/robots.txt" && s.times(target) != 1 {
					t.Errorf("%s was asked for %d times", target, s.times(target))
				}
			}
		})
	}
}

func TestMaxPagesIsNotExceededByWhatIsInFlight(t *testing.T) {
	pages := map[string]page{}
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf("/p/%d", i))
		pages[all[i]] = html(all[i])
	}
	pages["/"] = links(all...)
	inBubble(t, pages, func(t *testing.T, s *site) {
		s.slower(3 * time.Millisecond)
		o := s.options()
		o.Pace.Concurrency, o.Limits.Pages = 8, 10
		if r := crawl(t, t.TempDir(), o); r.State.Pages != 10 || len(s.requests()) != 11 {
			t.Errorf("%d pages, %d requests; want 10 and robots.txt", r.State.Pages, len(s.requests()))
		}
	})
}

func TestScopeNamesWhatItLeavesOutAndWideningLetsItThrough(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/":    html(`<a href=/a/1>1</a><a href=/b/1>2</a><img src=/b/i.png><a href=/x.pdf>x</a>`),
		"/a/1": links("/a/2"), "/a/2": links("/a/3"), "/a/3": html("3"),
		"/b/1": links("/b/2"), "/b/2": html("2"),
		"/b/i.png": {header: []string{"Content-Type: image/png"}, body: "png"},
		"/x.pdf":   {header: []string{"Content-Type: application/pdf"}, body: "pdf"},
	})
	dir := t.TempDir()
	narrow := options(s.URL + "/")
	narrow.Scope = judge.Scope{Include: []*regexp.Regexp{regexp.MustCompile("/a/")},
		Exclude: []*regexp.Regexp{regexp.MustCompile(`\.pdf$`)}, MaxDepth: 2}
	r := crawl(t, dir, narrow)
	if r.Ending != crawler.Done {
		t.Errorf("ended as %v: %s", r.Ending, r.Why)
	}
	for target, want := range map[string]string{
		"/b/1": "scope: matches no include", "/x.pdf": `scope: exclude "\\.pdf$"`,
		"/a/3": "scope: deeper than max-depth",
	} {
		if row := rows(t, dir)[target]; row.Rule != want || s.times(target) != 0 {
			t.Errorf("%s: %q, asked for %d times; want %q", target, row.Rule, s.times(target), want)
		}
		if inWords(r.Counts.Reasons)[want] != 1 {
			t.Errorf("status counts %v", r.Counts.Reasons)
		}
	}
	if s.times("/b/i.png") != 1 {
		t.Error("a requisite need not match an include")
	}

	s.forget()
	wide := options(s.URL + "/")
	wide.Scope.Exclude = narrow.Scope.Exclude
	var said []string
	wide.Tell = collect(&said)
	if r = crawl(t, dir, wide); r.Ending != crawler.Done {
		t.Errorf("ended as %v: %s", r.Ending, r.Why)
	}
	got := s.requests()
	slices.Sort(got)
	same(t, "requests after widening", got, []string{"/a/3", "/b/1", "/b/2"})
	same(t, "told", said, []string{"the new settings allow 2 URLs skipped before"})
}

func TestNarrowedScopeHoldsBackWhatWasQueuedAndWidenedItComesBack(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/": html(`<a href=/a>a</a><a href=/b>b</a><img src=/b.png>`), "/a": html("a"),
		"/b":     html("b"),
		"/b.png": {header: []string{"Content-Type: image/png"}, body: "png"}})
	dir := t.TempDir()
	o := options(s.URL + "/")
	o.Limits.Pages = 1
	crawl(t, dir, o)
	o.Limits.Pages = 0
	o.Scope.Exclude = []*regexp.Regexp{regexp.MustCompile("/b")}
	r := crawl(t, dir, o)
	if r.Ending != crawler.Done || s.times("/b")+s.times("/b.png") != 0 || s.times("/a") != 1 {
		t.Errorf("narrowed, it ended as %v; requests %q", r.Ending, s.requests())
	}
	if row := rows(t, dir)["/b"]; row.Rule != `scope: exclude "/b"` {
		t.Errorf("/b: %+v", row)
	}
	o.Scope.Exclude = nil
	r = crawl(t, dir, o)
	if r.Ending != crawler.Done || s.times("/b") != 1 || s.times("/b.png") != 1 || r.Counts.Fetched != 5 {
		t.Errorf("widened, it ended as %v, %+v; requests %q", r.Ending, r.Counts, s.requests())
	}
}

func TestRequisitesOfOtherHostsThatWereHeldBackComeAsRequisites(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{
		"site.example/":     html(`<img src=http://cdn.example/i.png><a href=http://cdn.example/page>p</a>`),
		"cdn.example/i.png": {header: []string{"Content-Type: image/png"}, body: "png"},
	}
	o := options("http://site.example/")
	s.reaches(t, &o)
	dir := t.TempDir()
	crawl(t, dir, o)
	o.Scope.AnyRequisites = true
	crawl(t, dir, o)
	if s.times("/i.png") != 1 || s.times("/page") != 0 {
		t.Errorf("requests %q", s.requests())
	}
}

func TestRaisedTrapBudgetLetsThroughWhatItHeldBack(t *testing.T) {
	t.Parallel()
	pages := chain(3)
	deep := strings.Repeat("/d", 12)
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf("/list?page=%d", i))
		pages[all[i]] = html(all[i])
	}
	pages["/"] = links(append(all, deep)...)
	pages[deep] = html("deep")
	s := newSite(t, pages)
	o := options(s.URL + "/")
	o.Traps.QueryVariants, o.Traps.PathDepth, o.Traps.Repeats = 10, 10, 0
	dir := t.TempDir()
	r := crawl(t, dir, o)
	if got := inWords(r.Counts.Reasons)["trap: query-variants: over 10 similar URLs"]; got != 20 {
		t.Errorf("%d held back by query-variants, want 20: %v", got, r.Counts.Reasons)
	}
	if got := inWords(r.Counts.Reasons)["trap: path-depth: over 10 segments"]; got != 1 {
		t.Errorf("%d held back by path-depth, want 1: %v", got, r.Counts.Reasons)
	}
	o.Traps.QueryVariants, o.Traps.PathDepth = 15, 0
	if r = crawl(t, dir, o); r.Counts.Fetched != 1+1+10+5+1 {
		t.Errorf("with budgets raised by 5 and lifted, %d fetched, want 18; %v", r.Counts.Fetched, r.Counts.Reasons)
	}
	o.Traps.QueryVariants = 0
	if r = crawl(t, dir, o); r.Counts.Fetched != 1+1+30+1 || r.Counts.Disregarded != 0 {
		t.Errorf("without budgets %d fetched, want 33; %v", r.Counts.Fetched, r.Counts.Reasons)
	}
	for _, target := range all {
		if s.times(target) != 1 {
			t.Errorf("%s was asked for %d times", target, s.times(target))
		}
	}
}

func TestFinishedCrawlHasNothingLeftToDo(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/": html("")})
	dir := t.TempDir()
	o := options(s.URL + "/")
	crawl(t, dir, o)
	s.forget()
	c, err := crawler.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Finished() {
		t.Error("the crawl does not know that it is finished")
	}
	c.Close()
	crawl(t, dir, o) // succeeds nevertheless
	if len(s.requests()) != 0 {
		t.Errorf("a finished crawl asks for %q", s.requests())
	}
	o.Seed = options(s.URL + "/other").Seed
	if _, err := crawler.Open(dir, o); err == nil ||
		!strings.Contains(err.Error(), "holds another crawl: of "+s.URL+"/, not of") {
		t.Errorf("another seed: %v", err)
	}
}

// Records that wait for a slow disk are bounded in octets, not only in number. While the disk sleeps,
// the bubble's clock stands still until all other goroutines wait.
func TestRecordsThatWaitForTheDiskAreBounded(t *testing.T) {
	long(t)
	t.Parallel()
	const size, at = 1 << 20, 8
	noise := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(noise)
	pages := map[string]page{"/robots.txt": text("")}
	var all []string
	for i := range 120 {
		all = append(all, fmt.Sprintf("/p/%d.png", i))
		pages[all[i]] = page{serve: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, r.URL.Path) // makes each body different
			w.Write(noise)
		}}
	}
	pages["/"] = links(all...)
	inBubble(t, pages, func(t *testing.T, s *site) {
		o := s.options()
		o.Pace.Concurrency = at
		var c *crawler.Crawl
		most := 0
		o.Archive.Fail = func(point string) {
			if point == "synced" && c != nil {
				time.Sleep(time.Second)
				most = max(most, c.Held())
			}
		}
		var err error
		if c, err = crawler.Open(filepath.Join(t.TempDir(), "archive"), o); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if r, err := c.Run(t.Context(), t.Context()); err != nil || r.Counts.Fetched != 122 {
			t.Errorf("%d fetched, %v", r.Counts.Fetched, err)
		}
		if bound := crawler.MaxHeld + at*3*size; most < crawler.MaxHeld/2 || most > bound {
			t.Errorf("%d MB were held while the disk was slow, want %d MB at most", most>>20, bound>>20)
		}
	})
}

// max-bytes also counts requests in flight: many concurrent requests without a delay exceed it by a
// tenth at most.
func TestMaxBytesWithoutADelay(t *testing.T) {
	t.Parallel()
	pages := map[string]page{"/robots.txt": text("")}
	var all []string
	for i := range 300 {
		target := fmt.Sprint("/", i)
		all = append(all, target)
		pages[target] = html(strings.Repeat("x", 500+i%3*9000))
	}
	pages["/"] = links(all...)
	s := newSite(t, pages)
	o := options(s.URL + "/")
	o.Pace.Concurrency, o.Limits.Bytes = 16, 500_000
	r := crawl(t, t.TempDir(), o)
	if n := r.State.Bytes; r.Limit != "max-bytes" || n < o.Limits.Bytes || n > o.Limits.Bytes*11/10 {
		t.Errorf("%d octets, ended by %q", n, r.Limit)
	}
}
