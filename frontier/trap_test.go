package frontier

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

func TestTrapsByURLAlone(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	traps := DefaultTraps()
	for _, c := range []struct {
		path string
		ok   bool
	}{
		{"/", true}, {"/a/b/c", true}, {"/a/a/b", true}, {"/a/a/a/", true}, {"/a/a/a/a/a/", false}, {"/x/a/b/a/b/a/b/a/b/a/b", false}, {"/x/a/b/a/b/a/b", true}, {"/x/a/b/a/b/c", true},
		{"/calendar/2026/12", true}, {"/calendar/2029-01", false}, {"/cal?year=2031&month=4", false}, {"/cal/20310401", false},
		{"/rfc/9309", true}, {"/i.php?tok=209912", true}, {"/i.php?seed=b203108", true}, {"/i.php?date=203108", false}, {"/item/20300", true}, {"/v/2048.10", true}, {"/p/1999-13", true}, {"/news/2012/05/01", true},
		{"/api/java.base/java/util/concurrent/atomic/package-summary.html", true},
		// Numbers that are no dates.
		{"/article/203005", true}, {"/news/209912.html", true}, {"/p/20301145", true}, {"/p/20300045", true}, {"/isbn/2030-11", true}, {"/?id=203005", true}, {"/i.php?id=2031-05", true},
		{"/report-2031/05", true}, {"/topic/2060/05", true}, {"/20600401", true}, {"/v/2031.08.77", true}, {"/shop?category=2031", true}, {"/tile?x=7&y=2031", true}, {"/friends/203005", true}, {"/local/203005", true},
		// Calendars.
		{"/calendar/203005", false}, {"/Calendar/month-203005.html", false}, {"/kalender/2031-05", false}, {"/203005?view=week", false}, {"/i.php?month=2031-05", false}, {"/2031/5/", false}, {"/2031/05.html", false}, {"/blog/2031/05/12/title", false},
		{"/tv/2031-05-01", false}, {"/tv/20310501", false}, {"/calendar/2060/05", false}, {"/?year=2060", false}, {"/c?y=2031&m=4", false}, {"/daily/203005", false}, {"/cal?y=2031", false},
	} {
		reason, ok := traps.Judge(&Link{URL: weburl.MustParse("http://h" + c.path), Class: Page}, now)
		if ok != c.ok {
			t.Errorf("%s: %v (%s), want %v", c.path, ok, reason, c.ok)
		}
	}
}

func TestSessionsAreKnownByNameAndValue(t *testing.T) {
	for query, want := range map[string]string{
		"s=681498b9648949605&t=8243":              "?t=8243",
		"a=1&sid=2564126ebdec301c607e5df":         "?a=1",
		"PHPSESSID=abcdefghijklmnopqrstuvwxyz":    "", // letters alone: the name says enough
		"Session_ID=0123456789ABCDEFabcdef&b&a":   "?a&b",
		"s=internationalization":                  "none",
		"s=responsibilities&lang=en":              "none",
		"session=ClosingKeynoteByTheChair":        "none",
		"sid=aaaaaaaaaaaaaaaaaaaa":                "none",
		"s=1234567":                               "none",
		"s=state-of-the-art-2026-and-beyond":      "none",
		"jsessionid=0123456789abcdef.node1":       "none",
		"search=0123456789abcdef0123456789abcdef": "none",
	} {
		form, rule := twin(weburl.MustParse("http://h/p?" + query))
		if want == "none" {
			if rule == "session-id" {
				t.Errorf("%s is taken for a session: %s", query, form)
			}
		} else if form != "http://h/p"+want || rule != "session-id" {
			t.Errorf("%s: %s (%s), want %s", query, form, rule, want)
		}
	}
}

func TestTwinsAreFetchedOnce(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "db"))
	f := open(t, db)
	f.SetTraps(DefaultTraps())
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
		return found[len(found)-1].Reason
	}
	for _, c := range []struct{ target, want string }{
		{"/p?a=1&b=2", ""}, {"/p?b=2&a=1", "trap: query-order: the same page under another name"},
		{"/q;jsessionid=0123456789abcdef", ""}, {"/q;jsessionid=fedcba9876543210", "trap: session-id: the same page under another name"},
		{"/s?PHPSESSID=0123456789abcdef01&x=1", ""}, {"/s?x=1&PHPSESSID=aaaaaaaaaaaaaaaaaaaa", "trap: session-id: the same page under another name"},
		{"/s?sid=short&x=1", ""},
		{"/p?a=1&b=2", "known"}, {"/q", ""}, {"/q", "known"}, {"/s?x=1", ""}, // the pages themselves, found after their twins
		{"/q;jsessionid=0a1b2c3d4e5f60718", "trap: session-id: the same page under another name"},
	} {
		if got := add(c.target); got != c.want {
			t.Errorf("%s: %q, want %q", c.target, got, c.want)
		}
	}
	f = open(t, db)
	f.SetTraps(DefaultTraps())
	if got := add("/q;jsessionid=11111111111111111"); got == "" {
		t.Error("the twin was forgotten over a restart")
	}
	soft := link("/r", Disregarded)
	soft.Soft, soft.Reason = true, "nofollow"
	f.Add(soft)
	waiting := f.Counts().Queued()
	f.Add(link("/r;jsessionid=0123456789abcdef", Page))
	if flush(t, f); f.Counts().Queued() != waiting+1 {
		t.Errorf("a URL that only a nofollow link leads to holds its twin back: %+v", f.Counts())
	}
}

// Numbers of articles are not counted as dates. A calendar that does not say
// that it is one shows itself by many dates.
func TestOnlyDatesCountAgainstTheBudgetOfCalendars(t *testing.T) {
	for shape, want := range map[string]int{"/article/%04d%02d": 0, "/article/%04d-%02d": 400, "/m/%04d/%02d": 400, "/month/%04d%02d": 400} {
		f := open(t, openDB(t, filepath.Join(t.TempDir(), "db")))
		traps := DefaultTraps()
		f.SetTraps(traps)
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
	traps := Traps{QueryVariants: 100}
	f.SetTraps(traps)
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
	f.SetTraps(traps)
	for range 80 {
		add()
	}
	c := f.Counts()
	if c.Disregarded != 60 || c.Reasons["trap: query-variants: over 100 alike"] != 60 {
		t.Errorf("counts %+v, want 60 held back", c)
	}
}
