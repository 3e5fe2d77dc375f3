package frontier

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

func TestTwinsAreFetchedOnce(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "db"))
	f := open(t, db)
	f.Judge(&judge.Settings{Traps: judge.DefaultTraps()})
	add := func(target string) string {
		u := weburl.MustParse("http://h" + target)
		if !f.Add(Link{URL: u, Class: Page}) {
			return "known"
		}
		flush(t, f)
		found, err := f.Find(u)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: not found, %v", target, err)
		}
		return found[len(found)-1].Reason.String()
	}
	for _, c := range []struct{ target, want string }{
		{"/p?a=1&b=2", ""}, {"/p?b=2&a=1", "trap: query-order: the same page under another name"},
		{"/t?c=10:20&u=a@h&f=d/e", ""}, {"/t?u=a%40h&c=10%3A20&f=d%2Fe",
			"trap: query-order: the same page under another name"},
		{"/t?c=10&u=b%40h", ""}, {"/t?u=b@h&c=10", "trap: query-order: the same page under another name"},
		{"/t?c=10&u=b%26h", ""},
		{"/n?a/b", ""}, {"/n?a%2Fb", ""},
		{"/q;jsessionid=0123456789abcdef", ""},
		{"/q;jsessionid=fedcba9876543210", "trap: session-id: the same page under another name"},
		{"/s?PHPSESSID=0123456789abcdef01&x=1", ""}, {"/s?x=1&PHPSESSID=aaaaaaaaaaaaaaaaaaaa",
			"trap: session-id: the same page under another name"},
		{"/s?sid=short&x=1", ""},
		{"/p?a=1&b=2", "known"}, {"/q", ""}, {"/q", "known"},
		{"/s?x=1", ""}, // the pages themselves, found after their variants
		{"/q;jsessionid=0a1b2c3d4e5f60718", "trap: session-id: the same page under another name"},
	} {
		if got := add(c.target); got != c.want {
			t.Errorf("%s: %q, want %q", c.target, got, c.want)
		}
	}
	f = open(t, db)
	f.Judge(&judge.Settings{Traps: judge.DefaultTraps()})
	if got := add("/q;jsessionid=11111111111111111"); got == "" {
		t.Error("the twin was forgotten over a restart")
	}
	soft := link("/r", Disregarded)
	soft.Soft, soft.Reason.Rule = true, judge.NoFollow
	f.Add(soft)
	waiting := f.Counts().Queued()
	f.Add(link("/r;jsessionid=0123456789abcdef", Page))
	if flush(t, f); f.Counts().Queued() != waiting+1 {
		t.Errorf("a URL that only a nofollow link leads to holds its twin back: %+v", f.Counts())
	}
}

// Article numbers are not counted as dates. A calendar whose URLs do not name it as one is recognised
// by its many dates.
func TestOnlyDatesCountAgainstTheBudgetOfCalendars(t *testing.T) {
	for shape, want := range map[string]int{"/article/%04d%02d": 0, "/article/%04d-%02d": 400, "/m/%04d/%02d": 400,
		"/month/%04d%02d": 400} {
		f := open(t, openDB(t, filepath.Join(t.TempDir(), "db")))
		traps := judge.DefaultTraps()
		f.Judge(&judge.Settings{Traps: traps})
		for n := range traps.Calendar/8 + 400 {
			f.Add(link(fmt.Sprintf(shape, 1900+n/12, n%12+1), Page))
		}
		flush(t, f)
		if c := f.Counts(); c.Disregarded != want {
			t.Errorf("%s: %d held back, want %d: %v", shape, c.Disregarded, want, c.Reasons)
		}
	}
}

func TestBudgetsAreKeptOverARestart(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "db"))
	f := open(t, db)
	traps := judge.Traps{QueryVariants: 100}
	f.Judge(&judge.Settings{Traps: traps})
	n := 0
	add := func() {
		f.Add(Link{URL: weburl.MustParse(fmt.Sprintf("http://h/shop?color=%d", n)), Class: Page})
		n++
		flush(t, f)
	}
	for range 80 {
		add()
	}
	f = open(t, db)
	f.Judge(&judge.Settings{Traps: traps})
	for range 80 {
		add()
	}
	c := f.Counts()
	if c.Disregarded != 60 || c.Reasons[judge.Reason{Rule: judge.QueryVariants,
		Params: judge.Params{Limit: 100}}] != 60 {
		t.Errorf("counts %+v, want 60 held back", c)
	}
}

// Variants wait until the other pages are fetched, also after a restart.
func TestVariantsComeLast(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "db"))
	f := open(t, db)
	f.Judge(&judge.Settings{Traps: judge.Traps{Facets: 100}})
	for n := range 40 { // 40 combinations of parameter names, as in a shop
		f.Add(link(fmt.Sprintf("/shop?a%d=1&b=1", n), Page))
	}
	f.Add(link("/about", Page))
	flush(t, f)
	f = open(t, db)
	var last string
	for range 41 {
		e, err := f.Next("http://h", time.Now())
		if err != nil || e == nil || e.Class != Page {
			t.Fatalf("%+v, %v", e, err)
		}
		if e.URL.Path() == "/about" && last != "/shop?a31=1&b=1" {
			t.Errorf("/about came behind %s", last)
		}
		last = e.URL.Target()
		f.Finish(e, StateFetched, judge.Reason{})
		flush(t, f)
	}
	if last != "/shop?a39=1&b=1" || f.Counts().Fetched != 41 || f.Counts().Queued() != 0 {
		t.Errorf("the last was %s: %+v", last, f.Counts())
	}
	n := 0
	for c := range judge.NumClasses {
		if err := f.Each(c, func(Found) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n != 41 {
		t.Errorf("Each gives %d URLs", n)
	}
}

// URLs found beyond the discovery budget are counted but take no space.
func TestTheNumberOfURLsIsBounded(t *testing.T) {
	f := open(t, openDB(t, filepath.Join(t.TempDir(), "db")))
	f.Judge(&judge.Settings{Traps: judge.Traps{Discovered: 50}})
	for n := range 80 {
		f.Add(link(fmt.Sprintf("/%d", n), Page))
	}
	if f.Add(link("/49", Page)) || !f.Add(link("/robots.txt", Prerequisite)) {
		t.Error("a URL that is known, or a robots.txt, is not what it should be")
	}
	flush(t, f)
	c := f.Counts()
	if left := c.Reasons[judge.Reason{Rule: judge.Discovered, Params: judge.Params{Limit: 50}}]; c.Discovered != 51 ||
		left != 30 || c.Queued() != 51 {
		t.Errorf("%+v", c)
	}
	if found, err := f.Find(weburl.MustParse("http://h/60")); err != nil || len(found) != 0 {
		t.Errorf("a URL beyond the budget is remembered: %+v, %v", found, err)
	}
}
