package crawler_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"curtsy/crawler"
)

// panics is a log that fails where a page cannot be decoded: in the middle of reading it.
type panics struct{ times *atomic.Int32 }

func (panics) Enabled(context.Context, slog.Level) bool { return true }
func (p panics) WithAttrs([]slog.Attr) slog.Handler     { return p }
func (p panics) WithGroup(string) slog.Handler          { return p }
func (p panics) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "cannot be fully decoded") {
		p.times.Add(1)
		panic("a mistake")
	}
	return nil
}

// A panic while an answer is read is the failure of that URL, once: the others are
// fetched, and neither another run nor a rebuild stops at it.
func TestAPanicIsTheFailureOfItsURL(t *testing.T) {
	t.Parallel()
	bad := page{header: []string{"Content-Type: text/html", "Content-Encoding: gzip"}, body: "\x1f\x8b\x08 and nothing that follows"}
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/bad", "/a", "/b"), "/bad": bad, "/a": links(), "/b": links()})
	dir, o, times := t.TempDir(), options(s.URL+"/"), atomic.Int32{}
	o.Logger = slog.New(panics{&times})
	r := crawl(t, dir, o)
	if r.Ending != crawler.Done || times.Load() != 1 {
		t.Fatalf("ended as %v: %s, after %d panics", r.Ending, r.Why, times.Load())
	}
	all := rows(t, dir)
	for target, want := range map[string]string{"/": "fetched", "/bad": "failed", "/a": "fetched", "/b": "fetched"} {
		if all[target].State != want {
			t.Errorf("%s: %+v, want %s", target, all[target], want)
		}
	}
	if why := all["/bad"].Rule; !strings.Contains(why, "internal error") {
		t.Errorf("the reason is %q", why)
	}
	crawl(t, dir, o)
	if n := s.times("/bad"); n != 1 {
		t.Errorf("asked for %d times", n)
	}
}
