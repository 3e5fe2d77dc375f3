package revisit

import (
	"testing"
	"time"

	"curtsy/internal/weburl"
	"curtsy/storage"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func visit(day int, status int, digest string) *storage.Visit {
	return &storage.Visit{At: began.AddDate(0, 0, day), Status: status, Digest: digest}
}

func TestDue(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		says    string
		visits  []*storage.Visit
		lastMod time.Time
		wait    time.Duration // from the last answer; about
	}{
		{"what was seen once is due after a week", []*storage.Visit{visit(0, 200, "a")}, time.Time{}, Unknown},
		{"what never changed waits longer", []*storage.Visit{visit(0, 200, "a"), visit(7, 200, "a"), visit(14, 304, "a"), visit(21, 200, "a")}, time.Time{}, Longest},
		{"what changes each time comes sooner than its visits", []*storage.Visit{visit(0, 200, "a"), visit(7, 200, "b"), visit(14, 200, "c"), visit(21, 200, "d")}, time.Time{}, 86 * time.Hour},
		{"but not sooner than a day", []*storage.Visit{visit(0, 200, "a"), visit(1, 200, "b"), visit(2, 200, "c")}, time.Time{}, day},
		{"half the time", []*storage.Visit{visit(0, 200, "a"), visit(7, 200, "b"), visit(14, 200, "b"), visit(21, 200, "c"), visit(28, 200, "c")}, time.Time{}, 11*day + 22*time.Hour},
		{"a failure of the server is no answer", []*storage.Visit{visit(0, 200, "a"), visit(3, 503, "x"), visit(4, 0, "")}, time.Time{}, Unknown},
		{"a sitemap that tells of a later change", []*storage.Visit{visit(0, 200, "a")}, began.AddDate(0, 0, 2), 2 * day},
		{"one that tells of an earlier change tells nothing", []*storage.Visit{visit(0, 200, "a")}, began.AddDate(0, 0, -2), Unknown},
		{"max-age is a lower bound", []*storage.Visit{{At: began, Status: 200, Digest: "a", MaxAge: 30 * 86400}}, time.Time{}, 30 * day},
	} {
		p := Due(c.visits, c.lastMod)
		got := p.At.Sub(lastAnswer(c.visits).At)
		if diff := got - c.wait; diff < -6*time.Hour || diff > 6*time.Hour {
			t.Errorf("%s: after %v (%s), want about %v", c.says, got, p.Why, c.wait)
		}
	}
	if p := Due(nil, time.Time{}); !p.At.IsZero() {
		t.Errorf("what never answered: due %v, want at once", p.At)
	}
}

func TestAlways(t *testing.T) {
	var visits []*storage.Visit
	for i, digest := range []string{"a", "b", "c"} {
		visits = append(visits, visit(i, 200, digest))
	}
	if Due(visits, time.Time{}).Always() {
		t.Error("two changes are too few to say that it always changes")
	}
	if visits = append(visits, visit(3, 200, "d")); !Due(visits, time.Time{}).Always() {
		t.Error("three changes at three visits: it always changes")
	}
}

func TestGood(t *testing.T) {
	ok := func() *storage.Visit { return &storage.Visit{Status: 200, Kept: storage.KeptResponse} }
	empty, cut, blocked, withheld := ok(), ok(), ok(), ok()
	empty.Suspect, cut.Truncated, blocked.Blocked, withheld.Kept = Empty, "disconnect", "challenge", storage.KeptWithheld
	first := ok()
	for _, bad := range []*storage.Visit{empty, cut, blocked, withheld, {Status: 503, Kept: storage.KeptResponse}, {Status: 304, Kept: storage.KeptRevisit}, {}} {
		if got := Good([]*storage.Visit{first, bad}); got != first {
			t.Errorf("%+v is taken for the page", bad)
		}
	}
	if second := ok(); Good([]*storage.Visit{first, second}) != second {
		t.Error("the last good visit is not the one")
	}
}

func TestSuspicion(t *testing.T) {
	home := weburl.FromCanonical("https://example.org/")
	page := &storage.Visit{URL: "https://example.org/page", Status: 200, Length: 900}
	for _, c := range []struct {
		says string
		was  *storage.Visit
		v    storage.Visit
		body string
		want string
	}{
		{"a page", page, storage.Visit{Status: 200}, "text", ""},
		{"nothing where there was text", page, storage.Visit{Status: 200}, " \n", Empty},
		{"nothing where there was nothing", &storage.Visit{Status: 200}, storage.Visit{Status: 200}, "", ""},
		{"nothing is known of it", nil, storage.Visit{Status: 200}, "", ""},
		{"a redirect to the home page", page, storage.Visit{Status: 302, Location: "https://example.org/"}, "", ToHome},
		{"with a query", page, storage.Visit{Status: 302, Location: "https://example.org/?gone=1"}, "", ToHome},
		{"a redirect elsewhere is one", page, storage.Visit{Status: 301, Location: "https://example.org/new"}, "", ""},
		{"another site's home page is elsewhere", page, storage.Visit{Status: 301, Location: "https://example.com/"}, "", ""},
		{"a login", page, storage.Visit{Status: 302, Location: "https://example.org/wp-login.php?redirect_to=%2Fpage"}, "", ToLogin},
		{"another host's", page, storage.Visit{Status: 302, Location: "https://id.example.com/auth/realms/x"}, "", ToLogin},
		{"a wiki's", page, storage.Visit{Status: 302, Location: "https://example.org/index.php?title=Special:UserLogin&returnto=Page"}, "", ToLogin},
		{"a page about logins", page, storage.Visit{Status: 302, Location: "https://example.org/blog/login-help"}, "", ""},
		{"the home page itself may redirect", &storage.Visit{URL: "https://example.org/", Status: 200, Length: 9}, storage.Visit{Status: 302, Location: "https://example.org/login"}, "", ""},
	} {
		if got := Suspicion(c.was, &c.v, []byte(c.body), home); got != c.want {
			t.Errorf("%s: %q, want %q", c.says, got, c.want)
		}
	}
}
