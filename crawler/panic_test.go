package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/crawler/revisit"
	"curtsy/storage"
)

// panics is a log handler that panics on the message that a page cannot be decoded, that is, while
// the page is read.
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

// A panic while a response is read makes that URL fail, once: the others are fetched, and neither
// another run nor a rebuild stops at it.
func TestAPanicIsTheFailureOfItsURL(t *testing.T) {
	t.Parallel()
	bad := page{header: []string{"Content-Type: text/html", "Content-Encoding: gzip"},
		body: "\x1f\x8b\x08 and nothing that follows"}
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/bad", "/a", "/b"), "/bad": bad, "/a": links(),
		"/b": links()})
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

// A panic while a link is judged makes the link's URL fail, whether it happens in the goroutine that
// parses, commits or selects.
func TestAPanicWhileALinkIsJudged(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a"), "/a": links()})
	dir, o := t.TempDir(), options(s.URL+"/")
	crawl(t, dir, o)
	s.set("/", links("/a", "/new"))
	o.Scope.Exclude, o.Round = []*regexp.Regexp{nil}, &revisit.Options{}
	for range 2 {
		if r := crawl(t, dir, o); r.Ending != crawler.Done {
			t.Errorf("ended as %v: %s", r.Ending, r.Why)
		}
		if got := rows(t, dir)["/a"]; got.Kept != "response" ||
			!strings.Contains(got.Rule, "internal error, please report it: rule exclude") {
			t.Errorf("/a: %+v", got)
		}
	}
}

// readPanics is a temporary file that panics the nth time it is read from offset 0; 0 is never.
type readPanics struct {
	*os.File
	times *atomic.Int32
	nth   int32
}

func (f readPanics) ReadAt(p []byte, at int64) (int, error) {
	if at == 0 && f.times.Add(1) == f.nth {
		panic("a mistake")
	}
	return f.File.ReadAt(p, at)
}

// A panic at any reading of a body, also while its records are written, makes that URL fail, once.
func TestAPanicAtAnyReadingOfABody(t *testing.T) {
	t.Parallel()
	long(t)
	for size, kind := range map[int]string{1 << 16: "text/html",
		5 << 20: "application/zip"} { // the larger one's record is streamed
		big := page{header: []string{"Content-Type: " + kind}, body: strings.Repeat("lorem ipsum dolor", size/17)}
		s := newSite(t, map[string]page{"/robots.txt": text(""), "/": links("/a", "/big", "/b"), "/big": big,
			"/a": links(), "/b": links()})
		readings := int32(1)
		for nth := int32(0); nth <= readings; nth++ {
			dir, o, times := filepath.Join(t.TempDir(), "archive"), options(s.URL+"/"), atomic.Int32{}
			o.MaxParse = 1 << 12
			o.Fetch.SpillAt = 1 << 12
			o.Fetch.Spill = func() (fetch.File, error) {
				f, err := os.CreateTemp(t.TempDir(), "body")
				return readPanics{f, &times, nth}, err
			}
			r, all := crawl(t, dir, o), rows(t, dir)
			if nth == 0 {
				if readings = times.Load(); readings < 3 {
					t.Fatalf("%s is read %d times", kind, readings)
				}
				continue
			}
			if r.Ending != crawler.Done || all["/a"].State != "fetched" || all["/b"].State != "fetched" {
				t.Errorf("%s, %d: ended as %v: %s, %+v", kind, nth, r.Ending, r.Why, all)
			}
			if big := all["/big"]; big.State != "failed" || !strings.Contains(big.Rule, "internal error") {
				t.Errorf("%s, %d of %d: %+v", kind, nth, readings, big)
			}
		}
		if n, want := s.times("/big"), int(readings)+1; n != want {
			t.Errorf("%s: asked for %d times in %d crawls", kind, n, want)
		}
	}
}

// Damage in crawl.db that shows while a visit is made ends the crawl as damage; it is not a failure of
// the URL.
func TestDamageThatAVisitMeetsIsTheArchives(t *testing.T) {
	t.Parallel()
	var dir string
	pages := map[string]page{"/robots.txt": text(""), "/": links("/a", "/b"), "/b": links()}
	pages["/a"] = page{serve: func(w http.ResponseWriter, _ *http.Request) {
		db := filepath.Join(dir, "crawl.db")
		if st, err := os.Stat(db); err != nil || os.WriteFile(db, make([]byte, st.Size()), 0o644) != nil {
			t.Error("crawl.db is not overwritten")
		}
		fmt.Fprint(w, "<a href=/c>c</a><a href=/d>d</a>")
	}}
	s := newSite(t, pages)
	dir = t.TempDir()
	o := options(s.URL + "/")
	c, err := crawler.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Run(t.Context(), t.Context())
	c.Close()
	var damage *storage.DamageError
	if !errors.As(err, &damage) {
		t.Errorf("it ends with %v", err)
	}
}
