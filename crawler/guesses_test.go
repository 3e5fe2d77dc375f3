package crawler_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
)

func script(body string) page {
	return page{header: []string{"Content-Type: text/javascript"}, body: body}
}

// URLs guessed from literals in scripts are fetched after requisites; a wrong guess is not a broken
// link, and a URL shape most of whose guesses were wrong is not tried any more.
func TestLiteralsOfScriptsAreGuesses(t *testing.T) {
	t.Parallel()
	var wrong strings.Builder
	for i := range 40 {
		fmt.Fprintf(&wrong, "load('/locale/l%d.js');", i)
	}
	s := newSite(t, map[string]page{
		"/":               html(`<a href=/page>p</a><script src=/main.js></script><script>Search.loadIndex("searchindex.js")</script>`),
		"/page":           links("/late"),
		"/late":           html("<script src=/late.js></script>"),
		"/late.js":        script("load('/locale/late.js')"),
		"/main.js":        script(`import "./part.js"; fetch("data/list.json");` + wrong.String()),
		"/part.js":        script(""),
		"/searchindex.js": script("index"), "/data/list.json": {header: []string{"Content-Type: application/json"},
			body: "{}"},
	})
	dir := t.TempDir()
	r := crawl(t, dir, options(s.URL+"/"))
	if r.Ending != crawler.Done {
		t.Fatalf("ended as %v: %s", r.Ending, r.Why)
	}
	all := rows(t, dir)
	for target, want := range map[string]string{"/searchindex.js": "fetched", "/data/list.json": "fetched",
		"/part.js": "fetched", "/page": "fetched", "/locale/l0.js": "disregarded", "/locale/l39.js": "disregarded"} {
		if all[target].State != want {
			t.Errorf("%s: %+v, want %s", target, all[target], want)
		}
	}
	asked, order := 0, s.requests()
	for _, target := range order {
		if strings.HasPrefix(target, "/locale/") {
			asked++
		}
	}
	if asked < 4 || asked > 8 {
		t.Errorf("%d of 40 wrong guesses were asked for", asked)
	}
	// No setting has changed since then, so nothing is left to do and a round begins.
	said, o := []string(nil), options(s.URL+"/")
	o.Tell = collect(&said)
	s.forget()
	crawl(t, dir, o)
	same(t, "said", said, nil)
	same(t, "asked for again", s.requests(), nil)
	o.Round = &revisit.Options{}
	if r := crawl(t, dir, o); len(r.State.Rounds) != 1 || s.times("/page") != 1 {
		t.Errorf("%d rounds, %q", len(r.State.Rounds), s.requests())
	}
	if slices.Index(order, "/part.js") > slices.Index(order, "/locale/l0.js") {
		t.Errorf("a guess was asked for before a requisite: %q", order)
	}
}

// A URL that a page or style sheet links is not a guess even if a script names it too, whichever is
// read first.
func TestALinkToAGuessIsFollowed(t *testing.T) {
	t.Parallel()
	var wrong strings.Builder
	for i := range 40 {
		fmt.Fprintf(&wrong, "load('/img/l%d.gif');", i)
	}
	css := page{header: []string{"Content-Type: text/css"},
		body: `a { background: url(/img/z.gif) } b { background: url(/img/l39.gif) }`}
	for name, front := range map[string]page{
		"before": html(`<link rel=stylesheet href=/s.css><script src=/main.js></script>`),
		"behind": html(`<script src=/main.js></script><a href=/late>l</a>`),
	} {
		s := newSite(t, map[string]page{"/": front, "/late": html(`<link rel=stylesheet href=/s.css>`), "/s.css": css,
			"/main.js":   script(wrong.String() + "load('/img/z.gif')"),
			"/img/z.gif": {header: []string{"Content-Type: image/gif"}, body: "GIF89a"}})
		dir := t.TempDir()
		crawl(t, dir, options(s.URL+"/"))
		if got := rows(t, dir)["/img/z.gif"].State; got != "fetched" {
			t.Errorf("%s: a picture of the style sheet is %s", name, got)
		}
		if !slices.Contains(s.requests(), "/img/l39.gif") {
			t.Errorf("%s: what the style sheet lacks was not asked for", name)
		}
	}
}

// Literals in ever different directories are judged by the site's guesses as a whole: after a few
// wrong ones the rest are not tried.
func TestLiteralsOfManyDirectories(t *testing.T) {
	t.Parallel()
	var wrong strings.Builder
	for i := range 60 {
		fmt.Fprintf(&wrong, "load('/m%d/part.js');", i)
	}
	s := newSite(t, map[string]page{"/": html(`<script src=/main.js></script>`), "/main.js": script(wrong.String())})
	crawl(t, t.TempDir(), options(s.URL+"/"))
	asked := 0
	for _, target := range s.requests() {
		if strings.HasPrefix(target, "/m") && target != "/main.js" {
			asked++
		}
	}
	if asked < 8 || asked > 12 {
		t.Errorf("%d of 60 wrong guesses in 60 directories were asked for", asked)
	}
}

// Alternate forms of a page come last, except the first feed, and may be excluded.
func TestAlternatesComeLast(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{
		"/":  html(`<link rel=alternate type="application/rss+xml" href=/feed><link rel=alternate type="application/rss+xml" href=/comments><link rel=shortlink href="/?p=1"><link rel="https://api.w.org/" href=/wp-json/><a href=/a>a</a><a href=/b>b</a>`),
		"/a": html("a"), "/b": html("b"), "/?p=1": redirect("/"), "/feed": text("feed"), "/comments": text("feed"),
		"/wp-json/": text("{}"),
	})
	o := options(s.URL + "/")
	crawl(t, t.TempDir(), o)
	order := s.requests()
	for _, last := range []string{"/comments", "/?p=1", "/wp-json/"} {
		if slices.Index(order, last) < slices.Index(order, "/b") {
			t.Errorf("%s was not asked for last: %q", last, order)
		}
	}
	if slices.Index(order, "/feed") > slices.Index(order, "/b") {
		t.Errorf("the first feed was asked for last: %q", order)
	}
	s.forget()
	o.Scope.SkipAlternates = true
	dir := t.TempDir()
	crawl(t, dir, o)
	if s.times("/comments")+s.times("/?p=1")+s.times("/wp-json/") != 0 || s.times("/feed") != 1 {
		t.Errorf("asked for %q", s.requests())
	}
	if row := rows(t, dir)["/comments"]; row.State != "disregarded" || !strings.Contains(row.Rule, "alternate form") {
		t.Errorf("/comments: %+v", row)
	}
}
