package hostile_test

import (
	"fmt"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/publicsuffix"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/crawler/fetch"
	"curtsy/frontier/judge"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/hostile"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/politeness/rules"
)

// options returns the defaults of the command line with shorter waits.
func options(t *testing.T, seed string, f *hostile.Fixture) crawler.Options {
	t.Helper()
	u := weburl.MustParse(seed)
	o := crawler.Options{
		Seed: u, Traps: judge.DefaultTraps(), RelNofollow: true,
		Rules: rules.Options{Agents: []string{"curtsy"}},
		Pace: politeness.Options{Concurrency: 4, Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond,
			MaxRetryAfter: 50 * time.Millisecond, MaxFailures: -1},
		Fetch: fetch.Options{UserAgent: "curtsy/test", AllowHost: u.Hostname(),
			Timeouts: fetch.Timeouts{ConnectTimeout: patience * time.Second,
				HeadTimeout: patience * 800 * time.Millisecond,
				IdleTimeout: patience * 400 * time.Millisecond, TotalTimeout: patience * 2 * time.Second},
			MaxBody: 64 << 20},
		Retry: crawler.Retry{Retries: 1, RetryBase: time.Millisecond},
	}
	if f != nil && !f.Slow { // a slow test machine must not look like an attack
		o.Fetch.ConnectTimeout, o.Fetch.HeadTimeout, o.Fetch.IdleTimeout, o.Fetch.TotalTimeout = time.Minute,
			time.Minute, time.Minute, time.Minute
	}
	if f != nil && f.Cookies {
		o.Fetch.Cookies, _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	}
	if f != nil && f.Requisites {
		o.Scope.AnyRequisites = true
	}
	return o
}

// hang is the time after which a crawl counts as hanging, far above what slow machines need.
const hang = 10 * time.Minute

func crawl(t *testing.T, dir string, o crawler.Options, most time.Duration) crawler.Result {
	t.Helper()
	return crawltest.Run(t, t.Context(), dir, o, most)
}

// wanted compares the archive with what the fixture expects.
func wanted(t *testing.T, f *hostile.Fixture, s *hostile.Server, rows map[string]string, reasons map[string]int) {
	t.Helper()
	for target, want := range f.Want {
		got, ok := rows[weburl.MustParse(s.Origin+f.Dir()+target).String()]
		if !ok {
			got = "unknown"
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%.80s: got %q, want %q", target, got, want)
		}
	}
	for reason, least := range f.Counts {
		n := 0
		for r, count := range reasons {
			if strings.HasPrefix(r, reason) {
				n += count
			}
		}
		if n < least {
			t.Errorf("%s: counted %d times, want at least %d", reason, n, least)
		}
	}
	n, most := 0, max(f.Most, 100)
	for target, count := range s.Requests() {
		if strings.HasPrefix(target, f.Dir()) {
			n += count
		}
	}
	if f.Most > 0 {
		most = f.Most
	}
	if n > most {
		t.Errorf("%d requests, want at most %d", n, most)
	}
}

// told returns the state and reason of every URL of an archive.
func told(t *testing.T, dir string) map[string]string {
	t.Helper()
	rows, err := explain.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, r := range rows {
		text := r.State
		if r.Rule != "" {
			text += ": " + r.Rule
		}
		m[r.URL] = text
	}
	return m
}

// explained checks that explain gives a reason for each URL that was not fetched or queued, for
// 50 at most.
func explained(t *testing.T, dir string, o crawler.Options, rows map[string]string) {
	t.Helper()
	n := 0
	for u, said := range rows {
		if strings.HasPrefix(said, "fetched") || said == "queued" {
			continue
		}
		if n++; n > 50 {
			return
		}
		x, err := explain.URL(dir, weburl.MustParse(u), o)
		if err != nil {
			t.Errorf("explain %.200s: %v", u, err)
			continue
		}
		if x.Reason.IsZero() || len(x.Decisions) == 0 {
			t.Errorf("explain %.200s: %s, no reason", u, x.State)
		}
	}
}

var exits = map[crawler.Ending]int{crawler.Done: 0, crawler.Limited: 3, crawler.Stopped: 3, crawler.Refused: 4,
	crawler.DiskFull: 3}

// Every attack by itself: the crawl ends in time, reports the attack, and finds the good pages.
func TestEachFixture(t *testing.T) {
	if patience > 1 {
		t.Skip("one by one: for runs without the race detector, which has TestTheWholeServer")
	}
	for i, f := range hostile.List() {
		t.Run(fmt.Sprintf("%d/%s", f.Line, f.Name), func(t *testing.T) {
			if testing.Short() && (f.Heavy || f.Most >= 1000 || i%4 != 0) {
				t.Skip("one in four, and none that is heavy, with -short")
			}
			t.Parallel() // mostly waits
			s, err := hostile.Start("127.0.0.1:0", f)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			dir := filepath.Join(t.TempDir(), "archive")
			o := options(t, s.Origin+"/", f)
			began := time.Now()
			r := crawl(t, dir, o, hang)
			took := time.Since(began)
			if exits[r.Ending] != f.Exit {
				t.Errorf("ended with %v (%s), want exit %d", r.Ending, r.Why, f.Exit)
			}
			crawltest.Sound(t, dir)
			rows := told(t, dir)
			wanted(t, f, s, rows, inWords(r.Counts.Reasons))
			explained(t, dir, o, rows)
			if f.Exit == 0 && rows[s.Origin+"/last"] != "fetched" {
				t.Errorf("the good page: %q", rows[s.Origin+"/last"])
			}
			for _, bad := range s.Improper() {
				t.Errorf("improper request: %s", bad)
			}
			t.Logf("%v, %d requests", took.Round(time.Millisecond), len(s.Requests()))
		})
	}
}

// All attacks at once.
func TestTheWholeServer(t *testing.T) {
	if patience == 1 {
		t.Skip("all at once: with the race detector, as .ci/run does; TestEachFixture has them one by one")
	}
	var fast []*hostile.Fixture
	for _, f := range hostile.Shared() {
		if patience > 1 && f.Line == 6 {
			continue // decompression bombs: the race detector makes their server too slow
		}
		if !f.Heavy && !f.Cookies && !f.Requisites {
			fast = append(fast, f)
		}
	}
	before := left()
	s, err := hostile.Start("127.0.0.1:0", fast...)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "archive")
	o := options(t, s.Origin+"/", nil)
	began := time.Now()
	r := crawl(t, dir, o, hang)
	t.Logf("%v, %d requests, %s: %+v", time.Since(began).Round(time.Millisecond), len(s.Requests()), r.Why, r.Counts)
	if r.Ending != crawler.Done {
		t.Errorf("ended with %v: %s", r.Ending, r.Why)
	}
	crawltest.Sound(t, dir)
	rows := told(t, dir)
	for _, f := range fast {
		t.Run(f.Name, func(t *testing.T) { wanted(t, f, s, rows, inWords(r.Counts.Reasons)) })
	}
	explained(t, dir, o, rows)
	counted(t, r, rows)
	for _, bad := range s.Improper() {
		t.Errorf("improper request: %s", bad)
	}
	s.Close()
	gone(t, before)
}

// counted checks that status counts every URL that was refused or failed under its reason.
func counted(t *testing.T, r crawler.Result, rows map[string]string) {
	t.Helper()
	n := 0
	for reason, count := range r.Counts.Reasons {
		if !reason.IsZero() && reason.Rule != judge.Overruled {
			n += count
		}
	}
	held := 0
	for _, said := range rows {
		if !strings.HasPrefix(said, "fetched") && said != "queued" {
			held++
		}
	}
	if n < held {
		t.Errorf("status counts %d reasons; %d URLs failed or were held back", n, held)
	}
}

// left counts what a crawl may leak: goroutines and open files.
func left() [2]int {
	files, _ := os.ReadDir("/proc/self/fd")
	return [2]int{runtime.NumGoroutine(), len(files)}
}

// gone checks that no goroutine, file or connection is left. The server is closed.
func gone(t *testing.T, before [2]int) {
	t.Helper()
	var now [2]int
	for range 100 {
		if now = left(); now[0] <= before[0] && now[1] <= before[1] {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("goroutines and open files %v, before %v\n%s", now, before, buf[:runtime.Stack(buf, true)])
}

// inWords counts reasons by their text for people.
func inWords(t judge.Tally) map[string]int {
	words := map[string]int{}
	for reason, n := range t {
		words[reason.String()] += n
	}
	return words
}
