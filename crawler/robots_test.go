package crawler_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"go.etcd.io/bbolt"

	"curtsy/crawler"
	"curtsy/crawler/preview"
	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	seal "curtsy/internal/sum"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// history returns the robots.txt versions that an archive knows.
func history(t *testing.T, dir, origin string) []crawllog.RobotsVersion {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	h, err := a.Robots(origin)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// turning is a robots.txt that changes with each request; the last version stays.
func turning(pages ...page) page {
	n := 0
	return page{serve: func(w http.ResponseWriter, r *http.Request) {
		p := pages[min(n, len(pages)-1)]
		n++
		if p.serve != nil {
			p.serve(w, r)
			return
		}
		for _, line := range p.header {
			name, value, _ := strings.Cut(line, ": ")
			w.Header().Set(name, value)
		}
		if p.status != 0 {
			w.WriteHeader(p.status)
		}
		w.Write([]byte(p.body))
	}}
}

// chain is a site of pages each of which links to the next, so that only one is queued at a time.
func chain(n int) map[string]page {
	pages := map[string]page{"/": links("/p/0")}
	for i := range n {
		pages[fmt.Sprintf("/p/%d", i)] = links(fmt.Sprintf("/p/%d", i+1))
	}
	return pages
}

func TestRobotsChangesDuringTheCrawl(t *testing.T) {
	t.Parallel()
	pages := chain(25)
	pages["/robots.txt"] = turning(
		text("User-agent: *\nDisallow: /never"),
		text("User-agent: *\nCrawl-delay: 0.05\nDisallow: /late"))
	pages["/"] = links("/p/0", "/never", "/late/a")
	pages["/p/24"] = links("/late/b")
	inBubble(t, pages, func(t *testing.T, s *site) {
		o := s.options()
		o.Pace.Delay = 25 * time.Millisecond
		o.MaxRobotsAge = 400 * time.Millisecond
		dir := t.TempDir()
		crawlLong(t, dir, o)
		log := s.asked()
		second := -1
		for i, a := range log[1:] {
			if a.target == "/robots.txt" {
				second = i + 1
				break
			}
		}
		if second < 0 {
			t.Fatal("robots.txt was asked for once only")
		}
		pauses(t, log[second:], 50*time.Millisecond)
		if s.times("/never")+s.times("/late/b") != 0 {
			t.Error("what one of the versions denies was asked for")
		}
		versions := history(t, dir, s.URL)
		if len(versions) < 2 || versions[0].Digest == versions[1].Digest || !versions[1].Used {
			t.Fatalf("versions %+v", versions)
		}
		for target, version := range map[string]int{"/never": 0, "/late/b": 1} {
			x := why(t, dir, s.URL+target, o)
			has(t, x.Reason.String(), "version "+versions[version].Short())
		}
		v := visitsOf(t, dir, s.URL+"/p/0")[0]
		if v.Robots == nil || v.Robots.Version != versions[0].Short() || !v.Robots.Fetched.Equal(versions[0].At) {
			t.Errorf("/p/0 was allowed by %+v, want version %s of %s", v.Robots, versions[0].Short(), versions[0].At)
		}
		if n := len(visitsOf(t, dir, s.URL+"/robots.txt")); n != s.times("/robots.txt") {
			t.Errorf("%d visits to robots.txt are archived, %d were made", n, s.times("/robots.txt"))
		}
	})
}

func TestQueuedURLsAreJudgedByTheRulesInForceWhenTheyAreFetched(t *testing.T) {
	t.Parallel()
	pages := map[string]page{"/robots.txt": turning(text("User-agent: *\nDisallow:"),
		text("User-agent: *\nDisallow: /p"))}
	var all []string
	for i := range 40 {
		all = append(all, fmt.Sprintf("/p/%d", i))
		pages[all[i]] = html(all[i])
	}
	pages["/"] = links(all...)
	inBubble(t, pages, func(t *testing.T, s *site) {
		o := s.options()
		o.Pace.Delay, o.MaxRobotsAge = 5*time.Millisecond, 60*time.Millisecond
		r := crawlLong(t, t.TempDir(), o)
		got := s.requests()
		change := slices.Index(got[1:], "/robots.txt") + 1
		if change == 0 || change > 35 {
			t.Fatalf("robots.txt was not asked for again in time: %q", got)
		}
		if slices.ContainsFunc(got[change:], func(s string) bool { return s != "/robots.txt" }) {
			t.Errorf("after the change: %q", got[change:])
		}
		if r.Counts.Disregarded != 40-(change-2) {
			t.Errorf("%d disregarded after %d fetched", r.Counts.Disregarded, change-2)
		}
	})
}

func TestRobotsIsAskedForConditionallyAndA304IsARevisit(t *testing.T) {
	t.Parallel()
	var conditions []string
	pages := chain(30)
	pages["/robots.txt"] = page{serve: func(w http.ResponseWriter, r *http.Request) {
		conditions = append(conditions, r.Header.Get("If-None-Match")+" "+r.Header.Get("If-Modified-Since"))
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(304)
			return
		}
		w.Header().Set("Last-Modified", "Sun, 01 Mar 2026 12:00:00 GMT")
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte("User-agent: *\nDisallow: /p/20"))
	}}
	inBubble(t, pages, func(t *testing.T, s *site) {
		o := s.options()
		o.Pace.Delay, o.MaxRobotsAge = 20*time.Millisecond, 150*time.Millisecond
		dir := t.TempDir()
		crawlLong(t, dir, o)
		if len(conditions) < 3 || conditions[0] != " " ||
			!slices.Contains(conditions, `"v1" Sun, 01 Mar 2026 12:00:00 GMT`) {
			t.Fatalf("conditions %q", conditions)
		}
		if s.times("/p/20") != 0 || s.times("/p/19") != 1 {
			t.Error("after a 304 the rules are no longer in force")
		}
		v := visitsOf(t, dir, s.URL+"/robots.txt")
		same := v[slices.IndexFunc(v, func(v *crawllog.Visit) bool { return v.Status == 304 })]
		if same.Kept != "revisit" || same.Digest != v[0].Digest || same.Refers == nil || same.Refers.N != 1 {
			t.Errorf("the visit that was answered 304: %+v", same)
		}
		w := warcText(t, dir)
		has(t, w, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n")
		has(t, w, "WARC-Refers-To: <"+v[0].Record.ID+">")
		for i, h := range history(t, dir, s.URL) {
			if h.Digest != history(t, dir, s.URL)[0].Digest || !h.Used {
				t.Errorf("version %d: %+v", i, h)
			}
		}
	})
}

func TestLastGoodRobotsIsUsedWhileTheServerFails(t *testing.T) {
	t.Parallel()
	pages := chain(25)
	pages["/robots.txt"] = turning(text("User-agent: *\nDisallow: /p/20"), answering(500), answering(429),
		page{status: 503})
	inBubble(t, pages, func(t *testing.T, s *site) {
		o := s.options()
		o.Pace.Delay, o.MaxRobotsAge, o.RetryBase = 3*time.Millisecond, 20*time.Millisecond, 20*time.Millisecond
		o.Pace.MaxFailures = -1
		dir := t.TempDir()
		if r := crawlLong(t, dir, o); r.Ending != crawler.Done {
			t.Errorf("ended as %v: %s", r.Ending, r.Why)
		}
		if s.times("/p/20") != 0 || s.times("/p/19") != 1 {
			t.Errorf("requests %q, want all up to /p/19", s.requests())
		}
		if n := s.times("/robots.txt"); n < 3 {
			t.Errorf("robots.txt was asked for %d times only", n)
		}
		h := history(t, dir, s.URL)
		has(t, why(t, dir, s.URL+"/p/20", o).Reason.String(), "version "+h[0].Short())
		for _, v := range h[1:] {
			if v.Used {
				t.Errorf("a failed version was used: %+v", v)
			}
		}
	})
}

// aged makes the robots.txt versions of an archive older.
func aged(t *testing.T, dir string, by time.Duration) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(dir, "crawl.db"), 0o644, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("robots"))
		all := map[string][]byte{}
		if err := b.ForEach(func(k, v []byte) error {
			var r crawllog.RobotsVersion
			v, ok := seal.Open(k, v)
			if err := json.Unmarshal(v, &r); err != nil || !ok {
				return fmt.Errorf("%v, %v", ok, err)
			}
			r.At, r.Expires = r.At.Add(-by), r.Expires.Add(-by)
			enc, err := json.Marshal(r)
			all[string(k)] = seal.Seal(k, enc)
			return err
		}); err != nil {
			return err
		}
		for k, v := range all {
			if err := b.Put([]byte(k), v); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestRobotsThatFailsForThirtyDaysIsTakenAsAbsent(t *testing.T) {
	long(t)
	t.Parallel()
	for _, days := range []int{29, 31} {
		pages := map[string]page{
			"/robots.txt": turning(text("User-agent: *\nDisallow: /p"), answering(500)),
			"/":           links("/a", "/p/1"), "/a": links("/p/2"),
		}
		s := newSite(t, pages)
		o := options(s.URL + "/")
		o.Limits.Pages = 1
		dir := t.TempDir()
		crawl(t, dir, o)
		aged(t, dir, time.Duration(days)*24*time.Hour)
		o.Limits.Pages, o.Pace.Delay, o.RetryBase = 0, 10*time.Millisecond, time.Millisecond
		if r := crawl(t, dir, o); r.Ending != crawler.Done {
			t.Errorf("%d days: ended as %v: %s", days, r.Ending, r.Why)
		}
		if got, want := s.times("/p/1"), map[int]int{29: 0, 31: 1}[days]; got != want {
			t.Errorf("after %d days of failures the URL that was denied is asked for %d times, want %d",
				days, got, want)
		}
	}
}

func TestCacheControlShortensTheLifeOfRobots(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"max-age=600": 10 * time.Minute, "public, max-age=90": 90 * time.Second, "max-age=999999": 24 * time.Hour,
		"no-cache": time.Minute, "no-store, max-age=900": time.Minute, "max-age=0": time.Minute,
		"max-age=x": 24 * time.Hour, "private": 24 * time.Hour,
	} {
		s := newSite(t, map[string]page{"/robots.txt": text("").with("Cache-Control: " + header), "/": html("")})
		dir := t.TempDir()
		crawl(t, dir, options(s.URL+"/"))
		if h := history(t, dir, s.URL); len(h) != 1 || h[0].Expires.Sub(h[0].At) != want {
			t.Errorf("%s: lives for %v, want %v", header, h[0].Expires.Sub(h[0].At), want)
		}
	}
}

func TestRobotsHoldsForAsLongAsTheDialectSays(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		dialect rules.Dialect
		set     time.Duration
		header  string
		want    time.Duration
	}{
		{rules.RFC9309, 0, "X: y", day}, {rules.Yandex, 0, "X: y", day}, {rules.Classic1994, 0, "X: y", 7 * day},
		{rules.Classic1994, day, "X: y", day}, {rules.Classic1994, 0, "Cache-Control: max-age=3600", time.Hour},
	} {
		s := newSite(t, map[string]page{"/robots.txt": text("").with(c.header), "/": html("")})
		dir := t.TempDir()
		o := options(s.URL + "/")
		o.Rules.Dialect, o.MaxRobotsAge = c.dialect, c.set
		crawl(t, dir, o)
		if h := history(t, dir, s.URL); len(h) != 1 || h[0].Expires.Sub(h[0].At) != c.want {
			t.Errorf("%v, set to %v, %s: lives for %v, want %v", c.dialect, c.set, c.header, h[0].Expires.Sub(h[0].At),
				c.want)
		}
	}
}

func TestStatusOfRobotsDecides(t *testing.T) {
	t.Parallel()
	cut := page{serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5000")
		w.Write([]byte("User-agent: *\nAllow: /\n"))
	}}
	hangUp := page{serve: func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }}
	late := page{serve: func(w http.ResponseWriter, r *http.Request) { time.Sleep(120 * time.Millisecond) }}
	deny := "User-agent: *\nDisallow: /"
	packed := func(text string, change func([]byte) []byte) page {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		return page{header: []string{"Content-Encoding: gzip", "Content-Type: text/plain"},
			body: string(change(b.Bytes()))}
	}
	var long strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&long, "Disallow: /%x\n", i*104_729)
	}
	whole := func(b []byte) []byte { return b }
	half := func(b []byte) []byte { return b[:len(b)/2] }
	flipped := func(b []byte) []byte { b[len(b)-6] ^= 1; return b } // in the checksum
	for name, c := range map[string]struct {
		robots  page
		fetched bool
		why     string
	}{
		"200":       {text("User-agent: *\nDisallow: /x"), true, ""},
		"200 empty": {text(""), true, ""},
		"204":       {page{status: 204}, true, ""},
		"400":       {page{status: 400, body: deny}, true, ""}, "401": {page{status: 401, body: deny}, true, ""},
		"403": {page{status: 403, body: deny}, true, ""}, "404": {page{status: 404, body: deny}, true, ""},
		"410": {page{status: 410, body: deny}, true, ""}, "451": {page{status: 451, body: deny}, true, ""},
		"429":            {answering(429), false, "answered 429 (tried 3 times)"},
		"500":            {answering(500), false, "answered 500 (tried 3 times)"},
		"503":            {answering(503), false, "answered 503 (tried 3 times)"},
		"304":            {answering(304), false, "answered 304 (tried 3 times)"},
		"cut off":        {cut, false, "cut off by the server (tried 3 times)"},
		"hangs up later": {turning(answering(500), hangUp), false, "connection closed by the server (tried 3 times)"},
		"no answer":      {late, false, "timed out (tried 3 times)"},
		"html":           {html("<html><body>User-agent: *<br>Disallow: /</body></html>"), true, ""},
		"denies all":     {text(deny), false, "is denied by"},
		"packed":         {packed("User-agent: *\nDisallow: /x", whole), true, ""},
		"cut at 600 KiB": {packed("User-agent: *\n"+long.String(), whole), true, ""},
		"cut gzip": {packed("User-agent: *\nDisallow: /x\n"+long.String()[:100_000], half), false,
			"content coding gzip: unexpected EOF (tried 3 times)"},
		"bad gzip": {packed("User-agent: *\nDisallow: /x", flipped), false,
			"content coding gzip: gzip: invalid checksum (tried 3 times)"},
		"recovers": {turning(answering(500), answering(503), text("User-agent: *\nDisallow: /x")), true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, map[string]page{"/robots.txt": c.robots, "/": html("")}, func(t *testing.T, s *site) {
				o := s.options()
				o.Fetch.HeadTimeout = 60 * time.Millisecond
				r := crawlLong(t, t.TempDir(), o)
				if s.times("/") != map[bool]int{true: 1, false: 0}[c.fetched] ||
					(r.Ending == crawler.Done) != c.fetched {
					t.Errorf("the seed was asked for %d times, and it ended as %v: %s", s.times("/"), r.Ending, r.Why)
				}
				if !c.fetched {
					if r.Ending != crawler.Refused {
						t.Errorf("ended as %v", r.Ending)
					}
					has(t, r.Why, c.why)
				}
			})
		})
	}
}

func TestRefusedSeedIsAskedForAgainWhenRobotsLetsUsIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text("User-agent: *\nDisallow: /\nSitemap: /map.txt"), "/map.txt": text("ORIGIN/a"),
		"/": links("/a"), "/a": html(""),
	})
	o := options(s.URL + "/")
	dir := t.TempDir()
	for range 2 {
		r := crawl(t, dir, o)
		if r.Ending != crawler.Refused || r.Why != s.URL+"/ is denied by "+s.URL+
			"/robots.txt: line 2: Disallow: / (version "+history(t, dir, s.URL)[0].Short()+")" {
			t.Fatalf("ended as %v: %s", r.Ending, r.Why)
		}
		if st, _ := status.Read(dir); st.State != "refused" || st.Why != r.Why {
			t.Errorf("status: %s, %s", st.State, st.Why)
		}
	}
	if slices.Contains(s.requests(), "/") || s.times("/robots.txt") != 2 {
		t.Errorf("requests %q, want robots.txt once a run, the seed never", s.requests())
	}
	s.set("/robots.txt", text("User-agent: curtsy\nAllow: /\n\nUser-agent: *\nDisallow: /"))
	if r := crawl(t, dir, o); r.Ending != crawler.Done || s.times("/") != 1 || s.times("/a") != 1 {
		t.Errorf("let in, it ended as %v: %s; requests %q", r.Ending, r.Why, s.requests())
	}
}

func TestRobotsRedirectsAreFollowedFiveTimes(t *testing.T) {
	long(t)
	t.Parallel()
	for hops := range 8 {
		s := newSite(t, map[string]page{"/": links("/private"), "/private": html("")})
		last := "User-agent: *\nDisallow: /private"
		at := "/robots.txt"
		for i := range hops {
			to := fmt.Sprintf("/hop/%d", i)
			s.pages[at] = redirect(to)
			at = to
		}
		s.pages[at] = text(last)
		dir := t.TempDir()
		crawl(t, dir, options(s.URL+"/"))
		if got, want := s.times("/private"), map[bool]int{true: 0, false: 1}[hops <= 5]; got != want {
			t.Errorf("%d hops: the URL that is denied behind them is asked for %d times, want %d", hops, got, want)
		}
		if n := len(visitsOf(t, dir, s.URL+"/robots.txt")); n != min(hops+1, 6) {
			t.Errorf("%d hops: %d visits are archived", hops, n)
		}
	}
}

func TestRulesBehindARedirectToAnotherHostHoldForTheFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.pages = map[string]page{
		"site.example/robots.txt":  redirect("http://rules.example/shared.txt"),
		"rules.example/shared.txt": text("User-agent: *\nDisallow: /private"),
		"site.example/":            links("/private", "/open"), "site.example/open": html(""),
	}
	o := options("http://site.example/")
	s.reaches(t, &o)
	dir := t.TempDir()
	crawl(t, dir, o)
	var got []string
	for _, a := range s.asked() {
		got = append(got, a.host+a.target)
	}
	same(t, "requests", got, []string{"site.example/robots.txt", "rules.example/shared.txt", "site.example/",
		"site.example/open"})
	has(t, rows(t, dir)["/private"].Rule, "robots.txt: line 2: Disallow: /private")
}

// While robots.txt redirects to another host and the last version is in force, trouble at that host
// counts against that host only, and only that host is left alone for a while.
func TestTroubleWhereRobotsHasMovedToIsNotTheSites(t *testing.T) {
	t.Parallel()
	pages := chain(150)
	pages["site.example/robots.txt"] = turning(text(""), redirect("http://rules.example/shared.txt"))
	pages["rules.example/shared.txt"] = answering(503)
	inBubble(t, pages, func(t *testing.T, s *site) {
		o := s.options()
		o.Pace = politeness.Options{Delay: time.Second, Backoff: 20 * time.Second, MaxBackoff: 20 * time.Second,
			MaxFailures: -1}
		o.MaxRobotsAge, o.RetryBase = time.Minute, time.Second
		if r := crawlLong(t, t.TempDir(), o); r.Ending != crawler.Done {
			t.Errorf("ended as %v: %s", r.Ending, r.Why)
		}
		last := map[string]time.Time{}
		asked := map[string]int{}
		for _, a := range s.asked() {
			gap := a.start.Sub(last[a.host])
			switch first := last[a.host].IsZero(); {
			case first:
			case a.host == "site.example" && gap > 1100*time.Millisecond:
				t.Errorf("%s came after %v, want a pause of a second", a.target, gap)
			case a.host == "rules.example" && gap < 20*time.Second:
				t.Errorf("%s was asked again after %v, want the back-off", a.host, gap)
			}
			last[a.host] = a.start
			asked[a.host]++
		}
		if asked["rules.example"] < 3 {
			t.Errorf("requests by host: %v, want several of rules.example", asked)
		}
	})
}

func TestChangedRobotsMayNameASitemap(t *testing.T) {
	t.Parallel()
	pages := chain(20)
	pages["/robots.txt"] = turning(text(""), text("Sitemap: /map.txt"))
	pages["/map.txt"] = text("ORIGIN/orphan")
	pages["/orphan"] = html("")
	s := newSite(t, pages)
	pages["/map.txt"] = text(s.URL + "/orphan")
	o := options(s.URL + "/")
	o.Pace.Delay, o.MaxRobotsAge = 5*time.Millisecond, 40*time.Millisecond
	crawl(t, t.TempDir(), o)
	if s.times("/map.txt") != 1 || s.times("/orphan") != 1 {
		t.Errorf("requests %q", s.requests())
	}
}

// waits runs a crawl until status shows what it waits for, and stops it.
func waits(t *testing.T, o crawler.Options, dir string) status.Status {
	t.Helper()
	stop, enough := context.WithCancel(t.Context())
	defer enough()
	var seen status.Status
	o.Watch = func(s status.Status) {
		if s.WaitingFor != "" {
			seen = s
			enough()
		}
	}
	if r := run(t, stop, dir, o); r.Ending != crawler.Stopped {
		t.Errorf("ended as %v: %s", r.Ending, r.Why)
	}
	check(t, dir)
	return seen
}

func TestStatusSaysWhichRetryIsWaitedFor(t *testing.T) {
	pages := map[string]page{"/": links("/a", "/b", "/1", "/2", "/3", "/4"), "/a": answering(500), "/b": answering(500),
		"/1": links(), "/2": links(), "/3": links(), "/4": links()}
	inBubble(t, pages, func(t *testing.T, s *site) {
		o := s.options()
		o.Retries, o.RetryBase = 1, time.Hour
		said := map[string]bool{}
		o.Watch = func(st status.Status) {
			said[st.WaitingFor] = true
			if st.Left > 0 && st.NextDue != nil && st.Left < st.NextDue.Sub(st.Updated) {
				t.Errorf("%s left, and the next retry is due in %s", st.Left, st.NextDue.Sub(st.Updated))
			}
			said["a time"] = said["a time"] || st.Left > 30*time.Minute
		}
		crawlLong(t, t.TempDir(), o)
		if !said["a time"] {
			t.Error("while an hour's wait goes on, less time is said to be left")
		}
		if want := "retry of the first of 2: " + s.URL + "/a"; !said[want] {
			t.Errorf("it never said %q: %v", want, said)
		}
	})
}

func TestVisitTimeAndQuietHoursHoldTheCrawlAndStatusSaysUntilWhen(t *testing.T) {
	t.Parallel()
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the start of a bubble's clock
	from, to := now.Add(2*time.Hour), now.Add(4*time.Hour)
	t.Run("Visit-time", func(t *testing.T) {
		inBubble(t, map[string]page{
			"/robots.txt": text(fmt.Sprintf("User-agent: *\nVisit-time: %s-%s", from.Format("1504"),
				to.Format("1504"))), "/": html("")}, func(t *testing.T, s *site) {
			st := waits(t, s.options(), t.TempDir())
			has(t, st.WaitingFor, "visit-time (robots.txt line 2), until "+from.Format("2006-01-02 15:04"))
			if st.NextDue == nil || st.NextDue.Format("15:04") != from.Format("15:04") {
				t.Errorf("next due at %v, want %v", st.NextDue, from)
			}
			same(t, "requests", s.requests(), []string{"/robots.txt"})
		})
	})
	t.Run("quiet hours", func(t *testing.T) {
		inBubble(t, map[string]page{"/": html("")}, func(t *testing.T, s *site) {
			o := s.options()
			since := func(t time.Time) time.Duration {
				return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
			}
			o.Pace.Quiet = []politeness.Window{{Start: since(now.Add(-time.Hour)), End: since(from)}}
			st := waits(t, o, t.TempDir())
			has(t, st.WaitingFor, "quiet hours until "+from.Format("2006-01-02 15:04"))
			if len(s.requests()) != 0 {
				t.Errorf("requests in quiet hours: %q", s.requests())
			}
		})
	})
	t.Run("Crawl-delay", func(t *testing.T) {
		inBubble(t, map[string]page{"/robots.txt": text("User-agent: *\nCrawl-delay: 100"), "/": html("")},
			func(t *testing.T, s *site) {
				st := waits(t, s.options(), t.TempDir())
				has(t, st.WaitingFor, "crawl-delay 1m40s (robots.txt line 2)")
				if st.NextDue == nil || time.Until(*st.NextDue) < 90*time.Second || st.Delay == "" {
					t.Errorf("status %+v", st)
				}
			})
	})
	t.Run("Retry-After outlives the run", func(t *testing.T) {
		inBubble(t, map[string]page{"/robots.txt": text(""), "/": answering(503).with("Retry-After: 100")},
			func(t *testing.T, s *site) {
				o, dir := s.options(), t.TempDir()
				for range 2 {
					st := waits(t, o, dir)
					has(t, st.WaitingFor, "retry-after 1m40s (HTTP 503)")
				}
				same(t, "requests", s.requests(), []string{"/robots.txt", "/"})
			})
	})
	t.Run("Crawl-delay outlives the run", func(t *testing.T) {
		inBubble(t, map[string]page{"/robots.txt": text("User-agent: *\nCrawl-delay: 0.3"), "/": links("/a", "/b"),
			"/a": html(""), "/b": html("")}, func(t *testing.T, s *site) {
			o, dir := s.options(), t.TempDir()
			o.Limits.Pages = 1
			crawlLong(t, dir, o)
			o.Limits.Pages = 2
			crawlLong(t, dir, o)
			pauses(t, s.asked(), 300*time.Millisecond)
		})
	})
}

func TestOriginsOfOneHostKeepThePaceThatAnyOfThemAsksFor(t *testing.T) {
	t.Parallel()
	const slow, quick = "User-agent: *\nCrawl-delay: 0.04\n", "User-agent: *\nCrawl-delay: 0.001\n"
	for name, c := range map[string]struct {
		seed, https string
		http        page
	}{
		"the other has no robots.txt":     {"https://example.com/", slow, answering(404)},
		"the other asks for less":         {"https://example.com/", slow, text(quick)},
		"the first asks for more":         {"http://example.com/", quick, text(slow)},
		"the other is unavailable":        {"https://example.com/", slow, answering(500)},
		"the other may not even be asked": {"https://example.com/", slow, redirect("http://169.254.169.254/")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, map[string]page{"/map.txt": text("https://example.com/a")})
			by := func(plain, secure page) page {
				return page{serve: func(w http.ResponseWriter, r *http.Request) {
					if r.TLS != nil {
						turning(secure).serve(w, r)
					} else {
						turning(plain).serve(w, r)
					}
				}}
			}
			s.pages["/robots.txt"] = by(c.http, text(c.https+"Sitemap: http://example.com/map.txt"))
			s.pages["/"] = by(redirect("https://example.com/"), links("/a", "/b", "/c"))
			for _, target := range []string{"/a", "/b", "/c"} {
				s.pages[target] = html(target)
			}
			o := options(c.seed)
			s.reaches(t, &o)
			dir := t.TempDir()
			for _, o.Limits.Pages = range []int{3, 0} {
				was := len(s.asked())
				crawl(t, dir, o)
				pauses(t, s.asked()[was:], 40*time.Millisecond)
			}
			if s.times("/c") != 1 {
				t.Errorf("requests %q", s.requests())
			}
		})
	}
}

func TestRobotsThatCannotBeHadIsNoneToLookAt(t *testing.T) {
	for what, c := range map[string]struct {
		page page
		want string
	}{
		"a cut body": {page{header: []string{"Content-Length: 5000"}, body: "User-agent: *"},
			"cut off by the server"},
		"a bad coding": {page{header: []string{"Content-Encoding: gzip"},
			body: "\x1f\x8b\x08 and then nothing of the kind"}, "content coding"},
		"a 503": {answering(503), ""},
	} {
		s := newSite(t, map[string]page{"/robots.txt": c.page})
		a, err := preview.FetchRobots(t.Context(), weburl.MustParse(s.URL+"/"), options(s.URL+"/"))
		if (err == nil) != (c.want == "") || err == nil && a.Status != 503 {
			t.Errorf("%s: status %d, %v", what, a.Status, err)
		}
		if err != nil {
			has(t, err.Error(), s.URL+"/robots.txt: "+c.want)
		}
	}
}

// A truncated robots.txt, or one whose content coding is damaged, is not used: it is requested again,
// and no page is fetched before it is complete.
func TestARobotsTxtThatIsNotWholeIsNotBelieved(t *testing.T) {
	t.Parallel()
	whole := "User-agent: *\nDisallow: /private\n"
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = io.WriteString(w, "User-agent: *\nDisallow:\n")
	w.Close()
	wrong := z.Bytes()
	wrong[len(wrong)-8] ^= 0x55
	for name, part := range map[string]page{
		"a part":           {status: 206, header: []string{"Content-Range: bytes 0-9/99"}, body: "User-agent"},
		"another checksum": {header: []string{"Content-Encoding: gzip"}, body: string(wrong)},
		"cut off":          {header: []string{"Content-Encoding: gzip"}, body: string(wrong[:len(wrong)-9])},
		"unknown coding": {header: []string{"Content-Encoding: compress"}, body: "\x1f\x9d\x90" +
			strings.Repeat("\x00\xfe\x80", 99)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, map[string]page{"/": links("/private", "/a"), "/a": links()})
			s.pages["/robots.txt"] = page{serve: func(w http.ResponseWriter, r *http.Request) {
				s.set("/robots.txt", text(whole))
				for _, line := range part.header {
					name, value, _ := strings.Cut(line, ": ")
					w.Header().Set(name, value)
				}
				w.WriteHeader(cmp.Or(part.status, 200))
				_, _ = io.WriteString(w, part.body)
			}}
			crawl(t, filepath.Join(t.TempDir(), "archive"), options(s.URL+"/"))
			if got, want := fmt.Sprint(s.requests()), "[/robots.txt /robots.txt / /a]"; got != want {
				t.Errorf("asked for %s, want %s", got, want)
			}
		})
	}
}

// A run that is killed before it refetched the robots.txt that refused the crawl leaves that to the
// next run.
func TestARefusedCrawlAsksForRobotsAlsoAfterAKill(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text("User-agent: *\nDisallow: /"), "/": html("home"),
		"/given": html("given")})
	dir, o := t.TempDir(), options(s.URL+"/")
	if r := crawl(t, dir, o); r.Ending != crawler.Refused {
		t.Fatalf("ends with %v", r.Ending)
	}
	s.set("/robots.txt", text(""))
	o.Given.Pages = []weburl.URL{weburl.MustParse(s.URL + "/given")}
	c, err := crawler.Open(dir, o) // it records what was given, and nothing else
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if r := crawl(t, dir, o); r.Ending != crawler.Done {
		t.Errorf("ends with %v, %s", r.Ending, r.Why)
	}
}

// A round requests robots.txt first, once: not again after each kill.
func TestARoundAsksForRobotsOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/b"), "/a": html("a"), "/b": html("b")})
	base, o := t.TempDir(), options(s.URL+"/")
	dir, killed := filepath.Join(base, "archive"), filepath.Join(base, "killed")
	crawl(t, dir, o)
	s.forget()
	pages := 0
	o.OnVisit = func(_ context.Context, v *crawllog.Visit) error {
		if v.Class != "page" {
			return nil
		}
		if pages++; pages != 1 {
			return nil
		}
		return copyKilled(dir, killed)
	}
	round(t, dir, o, revisit.Options{})
	if n := s.times("/robots.txt"); n != 1 {
		t.Errorf("the round asked for robots.txt %d times", n)
	}
	s.forget()
	if r := crawl(t, killed, o); r.Ending != crawler.Done || s.times("/a")+s.times("/b") == 0 {
		t.Errorf("resumed, it ends with %v, %s, after %q", r.Ending, r.Why, s.requests())
	}
	if n := s.times("/robots.txt"); n != 0 {
		t.Errorf("resumed, it asked for robots.txt %d times", n)
	}
}
