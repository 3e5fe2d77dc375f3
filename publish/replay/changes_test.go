package replay_test

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/internal/testkit/crawltest"
	"curtsy/publish/catalog"
	"curtsy/publish/replay"
)

// newRounds starts a server of an archive with two rounds, and returns the origin of the site.
func newRounds(t *testing.T) (*served, string) {
	t.Helper()
	s, seed := crawltest.Site(t, `
-- / --
<title>Home</title><p>The quick brown fox. <a href=/same>s</a> <a href=/secret>s</a> <a href=/brief>b</a> <a href=/short>s</a> <a href=/late>l</a> <a href=/unlisted>u</a>
-- /same --
<title>Same</title><p>It stays.
-- /secret --
<title>Secret</title><p>OLD-SECRET.
-- /brief --
<title>Brief</title><p>OLD-BRIEF.
-- /short --
<title>Short</title><p>OLD-SHORT.
-- /late --
<title>Late</title><p>It was late.
-- /unlisted --
<title>Unlisted</title><p>OLD-UNLISTED.
`)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	for target, text := range map[string]string{
		"/":         "<title>Home</title><p>The slow brown fox. <a href=/added>a</a>",
		"/added":    "<title>Added</title><p>It came.",
		"/secret":   "<title>Secret</title><meta name=robots content=noarchive><p>NEW-SECRET.",
		"/brief":    "<title>Brief</title><meta name=robots content=nosnippet><p>NEW-BRIEF.",
		"/short":    "<title>Short</title><meta name=robots content='max-snippet:4'><p>NEW-SHORT.",
		"/late":     "<title>Late</title><meta name=robots content='unavailable_after: 2100-01-01'><p>It is late.",
		"/unlisted": "<title>Unlisted</title><meta name=robots content=noindex><p>NEW-UNLISTED.",
	} {
		if err := s.Set(target, text+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	crawltest.Archive(t, dir, seed, func(o *crawler.Options) { o.Round = &revisit.Options{} })
	a := crawltest.Open(t, dir)
	var st status.State
	if _, err := a.Crawl(&st); err != nil {
		t.Fatal(err)
	}
	index, err := catalog.Open(context.Background(), a, catalog.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	v := &served{seed: seed, now: time.Now()}
	v.Server, err = replay.New([]*replay.Source{{Catalog: index, Seed: seed, Open: func() (*replay.Reading, error) {
		return &replay.Reading{Archive: a, AsOf: time.Now(), Rounds: st.Rounds, Close: func() {}}, nil
	}}},
		replay.Options{UI: "127.0.0.1:8600", Content: "127.0.0.1:8601", Now: func() time.Time { return v.now }})
	if err != nil {
		t.Fatal(err)
	}
	return v, s.Origin
}

func TestWhatChanged(t *testing.T) {
	t.Parallel()
	v, origin := newRounds(t)
	text := func(target string, status int) string {
		t.Helper()
		w := v.ui(target)
		body := w.Body.String()
		if w.Code != status || strings.Contains(body, "<script") {
			t.Errorf("%s: status %d, want %d: %s", target, w.Code, status, body)
		}
		for _, never := range []string{"SECRET.", "BRIEF.", "SHORT.", "UNLISTED."} {
			if strings.Contains(body, never) && !strings.Contains(target, "unlisted") {
				t.Errorf("%s tells %s", target, never)
			}
		}
		return body
	}
	wants := func(target string, words ...string) (body string) {
		t.Helper()
		body = text(target, 200)
		for _, word := range words {
			if !strings.Contains(body, word) {
				t.Errorf("%s: no %s in %s", target, word, body)
			}
		}
		return body
	}
	wants("/", `href="/changes?round=1"`)
	page := wants("/changes", "The <del>quick</del> <ins>slow</ins> brown fox.", ">Added</a>", `id="new"`)
	if strings.Contains(page, ">Same<") || strings.Contains(page, "Unlisted") {
		t.Error("what has not changed, or may not be listed, is listed")
	}
	wants("/changes", "<ins>is</ins> late")
	v.now = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	if page := wants("/changes", ">Added</a>"); strings.Contains(page, "late") {
		t.Error("what is not available any more is listed")
	}
	v.now = time.Now()
	compare := regexp.MustCompile(`/compare/\d+/\d+/[^"]*`).FindString(page)
	wants(compare, "The <del>quick</del> brown fox.", "The <ins>slow</ins> brown fox.", "All captures")
	wants(strings.Replace(compare, "compare", "beside", 1), "<iframe", `class="beside"`)
	wants("/2030/"+origin+"/", compare)
	wants("/versions/"+origin+"/", compare)
	text("/2030/"+origin+"/same", 200)
	pair := regexp.MustCompile(`\d+/\d+`).FindString(compare)
	comparing := func(target string) string { // its captures may be of other seconds than those of /
		t.Helper()
		link := regexp.MustCompile(`/compare/\d+/\d+/[^"]*` + target + `"`).FindString(text("/versions/"+origin+target,
			200))
		return strings.TrimSuffix(link, `"`)
	}
	wants(comparing("/unlisted"), "<del>OLD-UNLISTED.</del>")
	wants(comparing("/brief"), "nosnippet")
	wants(comparing("/short"), "max-snippet")
	text("/compare/"+pair+"/"+origin+"/secret", 451)
	text("/compare/"+pair+"/"+origin+"/nowhere", 404)
	for _, target := range []string{"/changes?round=7", "/changes?archive=2", "/compare/2030/" + origin + "/",
		"/compare/x/y/z"} {
		text(target, 404)
	}
	w := v.ui("/compare?url=" + origin + "%2F&a=20300101000000&b=20200101000000")
	if to := w.Header().Get("Location"); w.Code != 303 || to != "/compare/20200101000000/20300101000000/"+origin+"/" {
		t.Errorf("the form leads to %d %q", w.Code, to)
	}
	text("/compare?url=x", 400)
}
