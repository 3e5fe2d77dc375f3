package judge

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"curtsy/internal/weburl"
)

func TestTrapsByURLAlone(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	f := &Facts{Settings: &Settings{Scope: Scope{Origins: []string{"http://h"}}, Traps: DefaultTraps()}, Now: now}
	for _, c := range []struct {
		path string
		ok   bool
	}{
		{"/", true}, {"/a/b/c", true}, {"/a/a/b", true}, {"/a/a/a/", true}, {"/a/a/a/a/a/", false},
		{"/x/a/b/a/b/a/b/a/b/a/b", false}, {"/x/a/b/a/b/a/b", true}, {"/x/a/b/a/b/c", true},
		{"/calendar/2026/12", true}, {"/calendar/2029-01", false}, {"/cal?year=2031&month=4", false},
		{"/cal/20310401", false},
		{"/rfc/9309", true}, {"/i.php?tok=209912", true}, {"/i.php?seed=b203108", true}, {"/i.php?date=203108", false},
		{"/item/20300", true}, {"/v/2048.10", true}, {"/p/1999-13", true}, {"/news/2012/05/01", true},
		{"/api/java.base/java/util/concurrent/atomic/package-summary.html", true},
		// Numbers that are not dates.
		{"/article/203005", true}, {"/news/209912.html", true}, {"/p/20301145", true}, {"/p/20300045", true},
		{"/isbn/2030-11", true}, {"/?id=203005", true}, {"/i.php?id=2031-05", true},
		{"/report-2031/05", true}, {"/topic/2060/05", true}, {"/20600401", true}, {"/v/2031.08.77", true},
		{"/shop?category=2031", true}, {"/tile?x=7&y=2031", true}, {"/friends/203005", true}, {"/local/203005", true},
		// Calendars.
		{"/calendar/203005", false}, {"/Calendar/month-203005.html", false}, {"/kalender/2031-05", false},
		{"/203005?view=week", false}, {"/i.php?month=2031-05", false}, {"/2031/5/", false}, {"/2031/05.html", false},
		{"/blog/2031/05/12/title", false},
		{"/tv/2031-05-01", false}, {"/tv/20310501", false}, {"/calendar/2060/05", false}, {"/?year=2060", false},
		{"/c?y=2031&m=4", false}, {"/daily/203005", false}, {"/cal?y=2031", false},
	} {
		v := Decide(Found, &Link{URL: weburl.MustParse("http://h" + c.path), Class: Page}, f)
		if v.Excludes() == c.ok {
			t.Errorf("%s: %v, want it let through: %v", c.path, v.Reason, c.ok)
		}
	}
}

func TestSessionsAreKnownByNameAndValue(t *testing.T) {
	for query, want := range map[string]string{
		"s=681498b9648949605&t=8243":              "?t=8243",
		"a=1&sid=2564126ebdec301c607e5df":         "?a=1",
		"PHPSESSID=abcdefghijklmnopqrstuvwxyz":    "", // only letters, but the name is enough
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

// Views of other pages by date are late, except a few; pages of dates are fetched as they are found, for
// a year of them.
func TestViewsByDateAreLate(t *testing.T) {
	f := &Facts{Settings: &Settings{Traps: Traps{Calendar: 4000}}, Memory: counts{}}
	for target, want := range map[string]int{"/timeline?c=2024-%02d-%02d": 100 - aFewViews, "/2024/%02d/%02d/": 0} {
		late := 0
		for i := range 100 {
			if v := Decide(Added, &Link{URL: weburl.MustParse("http://h" + fmt.Sprintf(target, i%12+1, i/12+1)),
				Class: Page}, f); v.Late {
				late++
			}
		}
		if late != want {
			t.Errorf("%s: %d of 100 are late, want %d", target, late, want)
		}
	}
}

// forgets is a Memory whose methods panic.
type forgets struct{ Memory }

// A rule that panics on a link excludes that link; the calling goroutine continues.
func TestARuleThatPanics(t *testing.T) {
	l := &Link{URL: weburl.MustParse("http://h/list?a=1&b=2"), Class: Page}
	f := &Facts{Settings: &Settings{Scope: Scope{Origins: []string{"http://h"}}, Traps: DefaultTraps()},
		Memory: forgets{}}
	for range 2 {
		v := Decide(Added, l, f)
		text := v.Reason.String()
		if v.Reason.Rule != Internal || v.Soft || !strings.Contains(text, "please report it") ||
			!strings.Contains(text, "nil pointer") || !regexp.MustCompile(`\(\w+\.go:\d+\)$`).MatchString(text) {
			t.Errorf("%+v: %s", v, text)
		}
	}
	if steps := Walk(l, f); steps[len(steps)-1].Reason.Rule != Internal {
		t.Errorf("explain: %+v", steps)
	}
}
