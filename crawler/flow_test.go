package crawler_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"curtsy/crawler"
)

func TestRobotsThenSitemapsThenSeedThenBreadthFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, map[string]page{
		"/robots.txt":  text("User-agent: *\nDisallow:\nSitemap: /map.xml"),
		"/map.xml":     text("ORIGIN/listed"),
		"/":            html(`<a href=/a>a</a><img src=/i.png><a href=/b>b</a><link rel=stylesheet href=/s.css>`),
		"/a":           html(`<a href=/deep>deep</a><img src=/j.png>`),
		"/b":           html(``),
		"/deep":        html(``),
		"/listed":      html(`<a href=/a>a</a>`),
		"/i.png":       {header: []string{"Content-Type: image/png"}, body: "png"},
		"/j.png":       {header: []string{"Content-Type: image/png"}, body: "jng"},
		"/s.css":       {header: []string{"Content-Type: text/css"}, body: "body{background:url(/bg.png)}"},
		"/bg.png":      {header: []string{"Content-Type: image/png"}, body: "bg"},
		"/favicon.ico": answering(404),
	}, func(t *testing.T, s *site) {
		dir := t.TempDir()
		o := s.options()
		o.Pace.Delay = 200 * time.Millisecond // long compared with a commit on a busy machine
		r := crawlLong(t, dir, o)
		if r.Ending != crawler.Done {
			t.Errorf("ended as %v: %s", r.Ending, r.Why)
		}
		same(t, "requests", s.requests(), []string{
			"/robots.txt", "/map.xml", "/", "/i.png", "/s.css", "/bg.png", "/listed", "/a", "/j.png", "/b", "/deep"})
		log := s.asked()
		for i := 1; i < len(log); i++ {
			if log[i].start.Before(log[i-1].end) {
				t.Errorf("%s was asked for while %s was still being sent", log[i].target, log[i-1].target)
			}
		}
		for target, row := range rows(t, dir) {
			if row.State != "fetched" || row.Kept != "response" {
				t.Errorf("%s is %s, %s: robots.txt, sitemap and pages are all archived visits", target,
					row.State, row.Kept)
			}
		}
		has(t, warcText(t, dir), "WARC-Target-URI: "+s.URL+"/robots.txt\r\n")
	})
}

// pauses checks in the server's log that each request began at least the pause after the end of the
// previous one.
func pauses(t *testing.T, log []asked, pause time.Duration) {
	t.Helper()
	for i := 1; i < len(log); i++ {
		if gap := log[i].start.Sub(log[i-1].end); gap < pause {
			t.Errorf("%s began %v after the end of %s, %v are asked for", log[i].target, gap, log[i-1].target, pause)
		}
	}
}

func TestCrawlDelayRunsFromEndToStartWhateverTheConcurrency(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		inBubble(t, map[string]page{
			"/robots.txt": text("User-agent: *\nCrawl-delay: 0.03"),
			"/":           links("/a", "/b", "/c", "/d"),
			"/a":          html("a"), "/b": html("b"), "/c": html("c"), "/d": html("d"),
		}, func(t *testing.T, s *site) {
			s.slower(10 * time.Millisecond)
			o := s.options()
			o.Pace.Concurrency = concurrency
			crawlLong(t, t.TempDir(), o)
			if got := len(s.requests()); got != 6 {
				t.Errorf("%d requests, want 6", got)
			}
			pauses(t, s.asked(), 30*time.Millisecond)
		})
	}
}

func TestConfiguredDelayRunsFromEndToStartOneAtATime(t *testing.T) {
	inBubble(t, map[string]page{"/": links("/a", "/b"), "/a": html("a"), "/b": html("b")}, func(t *testing.T, s *site) {
		s.slower(10 * time.Millisecond)
		o := s.options()
		o.Pace.Delay = 20 * time.Millisecond
		crawlLong(t, t.TempDir(), o)
		pauses(t, s.asked(), 20*time.Millisecond)
	})
}

func TestRequestRateIsAPauseToo(t *testing.T) {
	inBubble(t, map[string]page{
		"/robots.txt": text("User-agent: *\nRequest-rate: 50/1s"),
		"/":           links("/a", "/b"), "/a": html("a"), "/b": html("b"),
	}, func(t *testing.T, s *site) {
		crawlLong(t, t.TempDir(), s.options())
		pauses(t, s.asked(), 20*time.Millisecond)
	})
}

func TestConcurrencyOverlapsWhereNoCrawlDelayIsSet(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/": links("/a", "/b", "/c", "/d", "/e", "/f")})
	for _, p := range []string{"/a", "/b", "/c", "/d", "/e", "/f"} {
		s.pages[p] = html(p)
	}
	s.slower(20 * time.Millisecond)
	o := options(s.URL + "/")
	o.Pace.Concurrency = 4
	dir := t.TempDir()
	crawl(t, dir, o)
	log, most := s.asked(), 0
	for _, a := range log {
		n := 0
		for _, b := range log {
			if !b.start.After(a.start) && b.end.After(a.start) {
				n++
			}
		}
		most = max(most, n)
	}
	if most < 2 || most > 4 {
		t.Errorf("at most %d requests at a time, want 2 to 4", most)
	}
}

// failing answers with a status the given number of times, and then with a page.
func failing(times int, code int, retryAfter string, then page) page {
	var n atomic.Int64
	return page{serve: func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) <= int64(times) {
			if retryAfter != "" {
				w.Header().Set("Retry-After", retryAfter)
			}
			w.WriteHeader(code)
			return
		}
		for _, line := range then.header {
			name, value, _ := strings.Cut(line, ": ")
			w.Header().Set(name, value)
		}
		w.Write([]byte(then.body))
	}}
}

func TestRetryAfterPausesTheWholeHost(t *testing.T) {
	t.Parallel()
	for _, code := range []int{429, 503} {
		inBubble(t, map[string]page{
			"/":  links("/a", "/b"),
			"/a": failing(1, code, "1", html("a")),
			"/b": html("b"),
		}, func(t *testing.T, s *site) {
			dir := t.TempDir()
			crawlLong(t, dir, s.options())
			var after time.Time
			for _, a := range s.asked() {
				if !after.IsZero() {
					if gap := a.start.Sub(after); gap < time.Second {
						t.Errorf("%s was asked for %v after a %d with Retry-After: 1", a.target, gap, code)
					}
					break
				}
				if a.target == "/a" {
					after = a.end
				}
			}
			if row := rows(t, dir)["/a"]; row.State != "fetched" || s.times("/a") != 2 {
				t.Errorf("/a is %s after %d requests, want fetched at the second", row.State, s.times("/a"))
			}
		})
	}
}

func TestFailedPageIsTriedAgainLaterAndThenFailed(t *testing.T) {
	hangUp := page{serve: func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }}
	cut := page{serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte("<a href=/led>led"))
	}}
	inBubble(t, map[string]page{
		"/":     links("/500", "/gone", "/cut", "/404", "/late", "/ok"),
		"/500":  answering(500),
		"/gone": hangUp,
		"/cut":  cut,
		"/late": failing(1, 500, "", html("late")),
		"/ok":   html("ok"),
	}, func(t *testing.T, s *site) {
		dir := t.TempDir()
		o := s.options()
		o.RetryBase = 400 * time.Millisecond // long compared with fetching the pages in between
		if r := crawlLong(t, dir, o); r.Ending != crawler.Done {
			t.Errorf("ended as %v: %s", r.Ending, r.Why)
		}
		for target, want := range map[string]struct {
			times int
			rule  string
		}{
			"/500": {3, "http: 500"}, "/cut": {3, "fetch: cut off by the server"},
			"/404": {1, "http: 404"}, "/late": {2, ""}, "/ok": {1, ""},
		} {
			row := rows(t, dir)[target]
			if s.times(target) != want.times || row.Rule != want.rule {
				t.Errorf("%s: asked for %d times, %s %q; want %d times, %q", target, s.times(target), row.State,
					row.Rule, want.times, want.rule)
			}
		}
		// A request on a kept connection that is closed is retried at once, one time (RFC 9112 §9.3.1).
		if v := visitsOf(t, dir, s.URL+"/gone"); len(v) != 3 || rows(t, dir)["/gone"].Rule != "fetch: disconnect" {
			t.Errorf("/gone has %d visits, %q; want 3, fetch: disconnect", len(v), rows(t, dir)["/gone"].Rule)
		}
		reqs := s.requests()
		if slices.Index(reqs, "/ok") > slices.Index(reqs, "/404")+3 {
			t.Errorf("a page that failed holds others up: %q", reqs)
		}
		if reqs := s.requests(); s.times("/led") != 1 || slices.Index(reqs, "/led") < len(reqs)-4 {
			t.Errorf("the links of a page are followed once it was cut off for the last time: %q", reqs)
		}
		if v := visitsOf(t, dir, s.URL+"/cut"); len(v) != 3 || v[0].Truncated != "disconnect" ||
			v[0].N != 1 || v[2].N != 3 {
			t.Errorf("visits to /cut: %+v, want 3 that were cut off", v)
		}
		has(t, warcText(t, dir), "WARC-Truncated: disconnect")
	})
}

func TestRepeatedFailuresStopTheCrawlAndItCanBeResumed(t *testing.T) {
	t.Parallel()
	down := true
	p := page{serve: func(w http.ResponseWriter, r *http.Request) {
		if down {
			w.WriteHeader(503)
		}
	}}
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/b", "/c"), "/a": p, "/b": p, "/c": p})
	o := options(s.URL + "/")
	o.Pace.MaxFailures, o.Retries = 4, 10
	dir := t.TempDir()
	r := crawl(t, dir, o)
	if r.Ending != crawler.Stopped || !strings.Contains(r.Why, "4 failures in a row") {
		t.Errorf("ended as %v: %s; want stopped, for 4 failures in a row", r.Ending, r.Why)
	}
	if n := len(s.requests()); n != 6 {
		t.Errorf("%d requests, want robots.txt, seed and 4 that fail", n)
	}
	s.mu.Lock()
	down = false
	s.mu.Unlock()
	if r = crawl(t, dir, o); r.Ending != crawler.Done || r.Counts.Fetched != 5 {
		t.Errorf("resumed, it ended as %v (%s), %d fetched; want done, 5", r.Ending, r.Why, r.Counts.Fetched)
	}
}

func TestSitemapsAndTheirChildrenComeBeforeTheSeedAtFullSpeedToo(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt": text("Sitemap: /index.xml"),
		"/index.xml":  html(`<sitemapindex><sitemap><loc>ORIGIN/one.xml</loc></sitemap><sitemap><loc>ORIGIN/two.xml</loc></sitemap></sitemapindex>`),
		"/one.xml":    text("ORIGIN/1"), "/two.xml": text("ORIGIN/2"),
		"/": html(""), "/1": html("1"), "/2": html("2"),
	})
	o := options(s.URL + "/")
	o.Pace.Concurrency = 4
	crawl(t, t.TempDir(), o)
	same(t, "the first requests", s.requests()[:4], []string{"/robots.txt", "/index.xml", "/one.xml", "/two.xml"})
}
