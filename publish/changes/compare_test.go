package changes_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/internal/testkit/crawltest"
	"curtsy/publish/changes"
)

func TestCompare(t *testing.T) {
	s, seed := crawltest.Site(t, "-- / --\n<title>x</title><p>Open at eight. <a href=/b>b</a>\n-- /b --\n<title>x</title><p>Open at nine.\n")
	dir := t.TempDir() + "/b"
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	last := func(path string) changes.Copy {
		visits := a.VisitsAt(s.Origin + path)
		if len(visits) == 0 {
			t.Fatalf("%s was not visited", path)
		}
		return changes.Copy{Archive: a, Visit: visits[len(visits)-1]}
	}
	was, now := last("/"), last("/b")
	if list, err := changes.Compare(t.Context(), was, now); err != nil || len(list) != 1 ||
		list[0].Now != "Open at nine." {
		t.Errorf("%+v, %v", list, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if list, err := changes.Compare(ended, was, now); !errors.Is(err, context.Canceled) || list != nil {
		t.Errorf("after the end of its context: %+v, %v", list, err)
	}
}

// No passages are shown of a text that may be shown only in part, as no export contains it.
func TestPassagesOfWhatMayBeQuoted(t *testing.T) {
	page := func(robots, hours string) string {
		return "<meta name=robots content='" + robots + "'><title>Hours</title><p>Open at " + hours + "."
	}
	pages := map[string]string{"/all": "index", "/some": "max-snippet:9", "/none": "nosnippet"}
	text := "-- / --\n<a href=/all>a</a><a href=/some>s</a><a href=/none>n</a>\n"
	for path, robots := range pages {
		text += "-- " + path + " --\n" + page(robots, "eight") + "\n"
	}
	s, seed := crawltest.Site(t, text)
	dir := t.TempDir() + "/b"
	crawltest.Archive(t, dir, seed)
	for path, robots := range pages {
		if err := s.Set(path, page(robots, "nine")); err != nil {
			t.Fatal(err)
		}
	}
	between := time.Now()
	crawltest.Archive(t, dir, seed, func(o *crawler.Options) { o.Round = &revisit.Options{} })
	told := map[string]string{}
	for c, err := range changes.Of(t.Context(), crawltest.Open(t, dir), changes.Options{Since: between}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Passages {
			c.Title += "; " + p.Was + " " + p.Now
		}
		told[strings.TrimPrefix(c.URL, s.Origin)] = string(c.Kind) + ": " + c.Title
	}
	for path, want := range map[string]string{"/all": "changed: Hours; Open at eight. Open at nine.",
		"/some": "changed: Hours", "/none": "changed: "} {
		if told[path] != want {
			t.Errorf("%s: %q, want %q", path, told[path], want)
		}
	}
}

// Each of the two texts has the usage preferences of the time it was fetched.
func TestPassagesAreForWhatBothTextsAreFor(t *testing.T) {
	s, seed := crawltest.Site(t, "-- /robots.txt --\nUser-agent: *\nContent-Usage: ai-input=n, tdm=y\n"+
		"-- / --\n<title>x</title><p>Open at eight.\n")
	dir := t.TempDir() + "/b"
	crawltest.Archive(t, dir, seed)
	if err := s.Set("/robots.txt", "User-agent: *\nContent-Usage: ai-input=y, tdm=y, train-ai=y\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Set("/", "<title>x</title><p>Open at nine. <a href=/new>new</a>"); err != nil {
		t.Fatal(err)
	}
	if err := s.Set("/new", "<title>new</title>"); err != nil {
		t.Fatal(err)
	}
	between := time.Now()
	crawltest.Archive(t, dir, seed, func(o *crawler.Options) { o.Round = &revisit.Options{} })
	got := map[string]string{}
	for c, err := range changes.Of(t.Context(), crawltest.Open(t, dir), changes.Options{Since: between}) {
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimPrefix(c.URL, s.Origin)] = c.Usage.String()
	}
	want := map[string]string{"/": "ai-input=n, tdm=y", "/new": "ai-input=y, tdm=y, train-ai=y"}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
