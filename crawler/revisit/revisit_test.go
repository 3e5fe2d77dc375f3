package revisit

import (
	"testing"
	"time"

	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

type (
	asked    = crawllog.Asked
	answer   = crawllog.Answer
	document = crawllog.Document
	payload  = crawllog.Payload
	stored   = crawllog.Stored
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func visit(day int, status int, digest string) *crawllog.Visit {
	return &crawllog.Visit{Asked: asked{At: began.AddDate(0, 0, day)}, Answer: answer{Status: status}, Payload: payload{Digest: digest}}
}

func TestDue(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		says    string
		visits  []*crawllog.Visit
		lastMod time.Time
		wait    time.Duration // approximate time after the last response
	}{
		{"what was seen once is due after a week", []*crawllog.Visit{visit(0, 200, "a")}, time.Time{}, Unknown},
		{"what never changed waits longer", []*crawllog.Visit{visit(0, 200, "a"), visit(7, 200, "a"),
			visit(14, 304, "a"), visit(21, 200, "a")}, time.Time{}, Longest},
		{"what changes each time comes sooner than its visits", []*crawllog.Visit{visit(0, 200, "a"),
			visit(7, 200, "b"), visit(14, 200, "c"), visit(21, 200, "d")}, time.Time{}, 86 * time.Hour},
		{"but not sooner than a day", []*crawllog.Visit{visit(0, 200, "a"), visit(1, 200, "b"), visit(2, 200, "c")},
			time.Time{}, day},
		{"half the time", []*crawllog.Visit{visit(0, 200, "a"), visit(7, 200, "b"), visit(14, 200, "b"),
			visit(21, 200, "c"), visit(28, 200, "c")}, time.Time{}, 11*day + 22*time.Hour},
		{"a failure of the server is no answer", []*crawllog.Visit{visit(0, 200, "a"), visit(3, 503, "x"),
			visit(4, 0, "")}, time.Time{}, Unknown},
		{"a sitemap that tells of a later change", []*crawllog.Visit{visit(0, 200, "a")},
			began.AddDate(0, 0, 2), 2 * day},
		{"one that tells of an earlier change tells nothing", []*crawllog.Visit{visit(0, 200, "a")},
			began.AddDate(0, 0, -2), Unknown},
		{"a date far ahead puts nothing off", []*crawllog.Visit{visit(0, 200, "a")}, began.AddDate(70, 0, 0), Unknown},
		{"max-age is a lower bound", []*crawllog.Visit{{Asked: asked{At: began}, Answer: answer{Status: 200}, Payload: payload{Digest: "a"}, Document: document{MaxAge: 30 * 86400}}},
			time.Time{}, 30 * day},
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
	var visits []*crawllog.Visit
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
	ok := func() *crawllog.Visit {
		return &crawllog.Visit{Answer: answer{Status: 200}, Stored: stored{Kept: crawllog.KeptResponse}}
	}
	empty, cut, blocked, withheld := ok(), ok(), ok(), ok()
	empty.Suspect, cut.Truncated, blocked.Blocked, withheld.Kept = Empty, "disconnect", "challenge",
		crawllog.KeptWithheld
	first := ok()
	for _, bad := range []*crawllog.Visit{empty, cut, blocked, withheld, {Answer: answer{Status: 503}, Stored: stored{Kept: crawllog.KeptResponse}},
		{Answer: answer{Status: 304}, Stored: stored{Kept: crawllog.KeptRevisit}}, {}} {
		if got := Good([]*crawllog.Visit{first, bad}); got != first {
			t.Errorf("%+v is taken for the page", bad)
		}
	}
	if second := ok(); Good([]*crawllog.Visit{first, second}) != second {
		t.Error("the last good visit is not the one")
	}
}

func titled(title string) *crawllog.Visit {
	v := typed("text/html")
	v.Title = title
	return v
}

func typed(kind string) *crawllog.Visit {
	return &crawllog.Visit{Asked: asked{URL: "https://example.org/page"}, Answer: answer{Status: 200},
		Document: document{ContentType: kind}, Payload: payload{Length: 900, Body: crawllog.BodyWhole}}
}

func TestSuspicion(t *testing.T) {
	isSite := func(u weburl.URL) bool { return u.Hostname() == "example.org" || u.Hostname() == "www.example.org" }
	page := &crawllog.Visit{Asked: asked{URL: "https://example.org/page"}, Answer: answer{Status: 200}, Payload: payload{Length: 900}}
	for _, c := range []struct {
		says string
		was  *crawllog.Visit
		v    crawllog.Visit
		want string
	}{
		{"a page that names an error", titled("Prices"), *titled("404 Not Found"), ErrorPage},
		{"as WordPress has it", titled("Prices"), *titled("Page not found – Example"), ErrorPage},
		{"of a proxy", titled("Prices"), *titled("503 Service Temporarily Unavailable"), ErrorPage},
		{"a status alone", titled("Prices"), *titled("Example | Error 500"), ErrorPage},
		{"a page about errors", titled("404 Not Found"), *titled("404 - Not Found"), ""},
		{"a number", titled("Prices"), *titled("451 degrees: a book"), ""},
		{"a phrase in a title", titled("Prices"), *titled("Forbidden forests"), ""},
		{"data in place of a page", titled("Prices"), *typed("application/json; charset=utf-8"), ErrorPage},
		{"data as it was", typed("application/json"), *typed("application/json"), ""},
		{"a picture in place of a page", titled("Prices"), *typed("image/png"), ""},
		{"a page", page, crawllog.Visit{Answer: answer{Status: 200}, Payload: payload{Body: crawllog.BodyWhole}}, ""},
		{"nothing where there was text", page, crawllog.Visit{Answer: answer{Status: 200}, Payload: payload{Body: crawllog.BodyEmpty}}, Empty},
		{"nothing where there was nothing", &crawllog.Visit{Answer: answer{Status: 200}},
			crawllog.Visit{Answer: answer{Status: 200}, Payload: payload{Body: crawllog.BodyEmpty}}, ""},
		{"nothing is known of it", nil, crawllog.Visit{Answer: answer{Status: 200}, Payload: payload{Body: crawllog.BodyEmpty}}, ""},
		{"a redirect to the home page", page, crawllog.Visit{Answer: answer{Status: 302, Location: "https://example.org/"}}, ToHome},
		{"with a query", page, crawllog.Visit{Answer: answer{Status: 302, Location: "https://example.org/?gone=1"}}, ToHome},
		{"by another name of the site", page, crawllog.Visit{Answer: answer{Status: 302, Location: "https://www.example.org/"}}, ToHome},
		{"from there to here", &crawllog.Visit{Asked: asked{URL: "https://www.example.org/page"}, Answer: answer{Status: 200}, Payload: payload{Length: 9}},
			crawllog.Visit{Answer: answer{Status: 302, Location: "https://example.org/"}}, ToHome},
		{"a redirect elsewhere is one", page, crawllog.Visit{Answer: answer{Status: 301, Location: "https://example.org/new"}}, ""},
		{"another site's home page is elsewhere", page, crawllog.Visit{Answer: answer{Status: 301, Location: "https://example.com/"}},
			""},
		{"a login", page, crawllog.Visit{Answer: answer{Status: 302, Location: "https://example.org/wp-login.php?redirect_to=%2Fpage"}},
			ToLogin},
		{"another host's", page, crawllog.Visit{Answer: answer{Status: 302, Location: "https://id.example.com/auth/realms/x"}},
			ToLogin},
		{"a wiki's", page, crawllog.Visit{Answer: answer{Status: 302, Location: "https://example.org/index.php?title=Special:UserLogin&returnto=Page"}}, ToLogin},
		{"a page about logins", page, crawllog.Visit{Answer: answer{Status: 302, Location: "https://example.org/blog/login-help"}}, ""},
		{"the home page itself may redirect", &crawllog.Visit{Asked: asked{URL: "https://example.org/"}, Answer: answer{Status: 200}, Payload: payload{Length: 9}},
			crawllog.Visit{Answer: answer{Status: 302, Location: "https://example.org/login"}}, ""},
	} {
		if got := Suspicion(c.was, &c.v, isSite); got != c.want {
			t.Errorf("%s: %q, want %q", c.says, got, c.want)
		}
	}
}
