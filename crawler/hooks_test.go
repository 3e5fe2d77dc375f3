package crawler_test

import (
	"context"
	"errors"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/internal/testkit/crawltest"
	"curtsy/storage/crawllog"
)

// The gate is asked before every request that a server sees, of whatever kind, and knows the address
// that the request goes to.
func TestTheGateIsAskedBeforeEachRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/robots.txt":  text("Sitemap: /sitemap.xml"),
		"/sitemap.xml": text("/from-the-sitemap"),
		"/":            links("/old", "/broken"),
		"/old":         redirect("/new"),
		"/new":         links(),
		"/broken":      answering(503),
	})
	o := options(s.URL + "/")
	o.Retries, o.RetryBase = 1, 1
	var mu sync.Mutex
	asked := 0
	o.Gate = func(_ context.Context, host string, addr netip.Addr) error {
		mu.Lock()
		defer mu.Unlock()
		asked++
		if s.URL != "http://"+host || !addr.IsLoopback() {
			t.Errorf("the gate was asked for %s at %s", host, addr)
		}
		return nil
	}
	crawl(t, t.TempDir(), o)
	if got := len(s.log); got < 7 || got != asked {
		t.Errorf("%d requests came, the gate was asked for %d", got, asked)
	}
}

// A request that the gate refuses is not sent; the run stops, and another run continues.
func TestWhatTheGateRefusesIsNotSent(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/b"), "/a": links(), "/b": links()})
	dir := filepath.Join(t.TempDir(), "archive")
	o := options(s.URL + "/")
	left := 2
	o.Gate = func(context.Context, string, netip.Addr) error {
		if left--; left < 0 {
			return errors.New("the lease is over")
		}
		return nil
	}
	r := crawltest.Run(t, t.Context(), dir, o, 5*time.Minute)
	if r.Ending != crawler.Stopped || !strings.Contains(r.Why, "the lease is over") {
		t.Errorf("got %v, %q", r.Ending, r.Why)
	}
	if got := len(s.log); got != 2 {
		t.Errorf("%d requests came, want 2", got)
	}
	o.Gate = nil
	if r := crawl(t, dir, o); r.Counts.Fetched != 4 || r.Counts.Failed != 0 {
		t.Errorf("got %+v, want all 4", r.Counts)
	}
}

// OnCommit reports each durable visit once, and how long the steps took.
func TestOnCommit(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/b"), "/a": links(), "/b": links()})
	o := options(s.URL + "/")
	seen := map[string]int{}
	o.OnCommit = func(done crawler.Commit) {
		if done.Began.IsZero() || done.Took < 0 || len(done.Visits) == 0 {
			t.Errorf("a commit of %d visits began at %s and took %s", len(done.Visits), done.Began, done.Took)
		}
		for _, each := range done.Visits {
			seen[strings.TrimPrefix(each.URL, s.URL)]++
		}
	}
	crawl(t, t.TempDir(), o)
	for _, target := range []string{"/robots.txt", "/", "/a", "/b"} {
		if seen[target] != 1 {
			t.Errorf("%s: committed %d times, want once (%v)", target, seen[target], seen)
		}
	}
}

// OnVisit is called once for each durable visit; its error becomes Run's.
func TestOnVisit(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/b"), "/a": links(), "/b": links()})
	o := options(s.URL + "/")
	seen := map[string]int{}
	o.OnVisit = func(_ context.Context, v *crawllog.Visit) error {
		seen[strings.TrimPrefix(v.URL, s.URL)]++
		return nil
	}
	crawl(t, t.TempDir(), o)
	for _, target := range []string{"/robots.txt", "/", "/a", "/b"} {
		if seen[target] != 1 {
			t.Errorf("%s: %d visits, want 1 (%v)", target, seen[target], seen)
		}
	}
	failed := errors.New("no more")
	o.OnVisit = func(context.Context, *crawllog.Visit) error { return failed }
	c, err := crawler.Open(filepath.Join(t.TempDir(), "archive"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Run(t.Context(), t.Context()); !errors.Is(err, failed) {
		t.Errorf("got %v, want the hook's error", err)
	}
}
