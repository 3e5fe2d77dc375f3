package crawler_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/crawler/fetch"
	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/sitetest"
	"curtsy/internal/weburl"
	"curtsy/politeness"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// unkept is in the body of every page that asks for noarchive. No file of an archive may contain it,
// compressed or not.
const unkept = "this-must-not-be-kept"

// page is a response of the test site.
type page struct {
	status int      // 0 is 200
	header []string // "Name: value"
	body   string
	serve  http.HandlerFunc // replaces the fields above
}

func html(body string) page {
	return page{header: []string{"Content-Type: text/html; charset=utf-8"}, body: body}
}

func text(body string) page { return page{header: []string{"Content-Type: text/plain"}, body: body} }

func redirect(to string) page { return page{status: 302, header: []string{"Location: " + to}} }

func answering(code int) page { return page{status: code} }

func (p page) with(header string) page {
	p.header = append(slices.Clone(p.header), header)
	return p
}

// links is a page that links to each target.
func links(targets ...string) page {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html><title>links</title>")
	for _, t := range targets {
		fmt.Fprintf(&b, "<a href=%q>%s</a>\n", t, t)
	}
	return html(b.String())
}

// asked is one request as the server saw it. end is taken before the last octet is sent, so it is never
// later than the time at which the client has it.
type asked struct {
	host, target string
	start, end   time.Time
	header       http.Header
}

// site is a web server on loopback that records every request.
type site struct {
	*httptest.Server
	mu     sync.Mutex
	pages  map[string]page // by target, or by host and target; "*" is all others
	log    []asked
	origin string
	slow   time.Duration                                                        // between start and end of every answer
	dial   func(ctx context.Context, network, address string) (net.Conn, error) // for a bubble
}

func newSite(t *testing.T, pages map[string]page) *site {
	t.Helper()
	s := &site{pages: pages}
	s.Server = httptest.NewUnstartedServer(s)
	s.origin = "http://" + s.Listener.Addr().String()
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *site) set(target string, p page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[target] = p
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	s.mu.Lock()
	p, ok := s.pages[r.Host+r.URL.RequestURI()]
	if !ok {
		p, ok = s.pages[r.URL.RequestURI()]
	}
	if !ok {
		p, ok = s.pages["*"]
	}
	slow := s.slow
	s.mu.Unlock()
	if slow > 0 {
		time.Sleep(slow)
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, asked{r.Host, r.URL.RequestURI(), start, time.Now(), r.Header})
	}()
	switch {
	case p.serve != nil:
		p.serve(w, r)
		return
	case !ok:
		p.status = http.StatusNotFound
	}
	for _, line := range p.header {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Add(name, value)
	}
	w.WriteHeader(cmp.Or(p.status, 200))
	io.WriteString(w, strings.ReplaceAll(p.body, "ORIGIN", s.origin))
}

// slower delays every response by d.
func (s *site) slower(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slow = d
}

// requests lists the targets requested, in the order in which the requests began.
func (s *site) requests() []string {
	var list []string
	for _, a := range s.asked() {
		list = append(list, a.target)
	}
	return list
}

func (s *site) asked() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := slices.Clone(s.log)
	slices.SortFunc(log, func(a, b asked) int { return a.start.Compare(b.start) })
	return log
}

func (s *site) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}

// times returns how often a target was requested.
func (s *site) times(target string) int {
	n := 0
	for _, r := range s.requests() {
		if r == target {
			n++
		}
	}
	return n
}

// options returns the command line's defaults with short waits.
func options(seed string) crawler.Options {
	u := weburl.MustParse(seed)
	return crawler.Options{
		Seed: u, Traps: judge.DefaultTraps(), RelNofollow: true,
		Rules: rules.Options{Agents: []string{"curtsy"}},
		Pace:  politeness.Options{Backoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond},
		Fetch: fetch.Options{UserAgent: "curtsy/test", AllowHost: u.Hostname()},
		Retry: crawler.Retry{Retries: 2, RetryBase: time.Millisecond},
	}
}

// crawl makes one run, to its end, and checks the archive.
func crawl(t *testing.T, dir string, o crawler.Options) crawler.Result {
	t.Helper()
	r := run(t, t.Context(), dir, o)
	check(t, dir)
	return r
}

// run makes one run, which ends by itself or when stop is done.
func run(t *testing.T, stop context.Context, dir string, o crawler.Options) crawler.Result {
	t.Helper()
	return crawltest.Run(t, stop, dir, o, 5*time.Minute)
}

// check checks what must hold for every archive.
func check(t *testing.T, dir string) {
	t.Helper()
	crawltest.Sound(t, dir)
	checkCounts(t, dir)
	checkUnkept(t, dir)
}

// checkCounts: every URL has a state, every visit a URL, and the counts add up.
func checkCounts(t *testing.T, dir string) {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	f, err := a.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	n := map[frontier.State]int{}
	total := 0
	for class := range judge.NumClasses {
		if err := f.Each(class, func(e frontier.Found) error {
			n[e.State]++
			total++
			if (e.State == frontier.StateDisregarded || e.State == frontier.StateFailed) && e.Reason.IsZero() {
				t.Errorf("%s is %s without a reason", e.URL, e.State)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	c := f.Counts()
	overruled := c.Reasons[judge.Reason{Rule: judge.Overruled}]
	got := [...]int{c.Discovered, c.Queued(), c.Fetched, c.Failed, c.Disregarded}
	want := [...]int{total - overruled, n[frontier.StateQueued], n[frontier.StateFetched], n[frontier.StateFailed],
		n[frontier.StateDisregarded] - overruled}
	if got != want {
		t.Errorf("counts say discovered, queued, fetched, failed, disregarded = %v; the entries say %v", got, want)
	}
	var st status.State
	if _, err := a.Crawl(&st); err != nil {
		t.Fatal(err)
	}
	visits := 0
	if err := sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error {
		visits++
		e, ok := f.Get(v.URLID)
		if !ok {
			t.Errorf("a visit to %s belongs to no URL", v.URL)
		} else if e.URL.String() != v.URL && e.Class != frontier.Prerequisite {
			t.Errorf("a visit to %s belongs to %s", v.URL, e.URL)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if visits != st.Visits {
		t.Errorf("the crawl says %d visits, %d are there", st.Visits, visits)
	}
}

// checkUnkept searches every file of the archive, decompressed, for what must not be kept.
func checkUnkept(t *testing.T, dir string) {
	t.Helper()
	for name, b := range contents(t, dir) {
		if bytes.Contains(b, []byte(unkept)) {
			t.Errorf("%s holds the body of a page that asks for noarchive", name)
		}
	}
}

// contents reads every file of an archive; of segments, all gzip members decompressed.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if b, err = io.ReadAll(z); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		files[path] = b
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

// warcText returns all segments of an archive, decompressed.
func warcText(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	for name, data := range contents(t, dir) {
		if strings.HasSuffix(name, ".warc.gz") {
			b.Write(data)
		}
	}
	return b.String()
}

// rows returns the archive's rows by path and query.
func rows(t *testing.T, dir string) map[string]explain.Row {
	t.Helper()
	list, err := explain.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]explain.Row{}
	for _, r := range list {
		m[weburl.MustParse(r.URL).Target()] = r
	}
	return m
}

// why explains a URL of an archive.
func why(t *testing.T, dir, url string, o crawler.Options) *explain.Explanation {
	t.Helper()
	x, err := explain.URL(dir, weburl.MustParse(url), o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// visitsOf returns the visits to a URL.
func visitsOf(t *testing.T, dir, url string) []*crawllog.Visit {
	t.Helper()
	return why(t, dir, url, options(url)).Visits
}

// reaches makes every host name resolve to a public address and connect to the site; port 443 connects
// to its TLS twin, whose certificate the options trust.
func (s *site) reaches(t *testing.T, o *crawler.Options) {
	t.Helper()
	secure := httptest.NewUnstartedServer(s)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	o.Fetch.RootCAs = roots
	o.Fetch.Lookup = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}
	o.Fetch.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		to := s.Listener.Addr().String()
		if strings.HasSuffix(address, ":443") {
			to = secure.Listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, to)
	}
}

// same fails unless two lists are equal.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// has fails unless text holds part.
func has(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q is not in:\n%.3000s", part, text)
	}
}

// inWords counts reasons by their text.
func inWords(t judge.Tally) map[string]int {
	words := map[string]int{}
	for reason, n := range t {
		words[reason.String()] += n
	}
	return words
}

// long skips a test when -short is set.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs without -short")
	}
}

// collect appends a crawl's messages to a list, except those about robots.txt responses.
func collect(said *[]string) func(string) {
	return func(text string) {
		if !strings.Contains(text, "/robots.txt answered") {
			*said = append(*said, text)
		}
	}
}
