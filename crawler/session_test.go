package crawler_test

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
)

// forum is a site that gives each client without its cookie a session whose id is put into all links; a
// stubborn one puts it into the links of other clients too.
func forum(t *testing.T, topics int, stubborn bool) *site {
	made := 0
	return newSite(t, map[string]page{"*": {serve: func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		id := ""
		if k, err := r.Cookie("sid"); err != nil {
			made++
			id = fmt.Sprintf("%032x", made)
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: id, Path: "/"})
		} else if stubborn {
			id = k.Value
		}
		if id != "" {
			id = "?sid=" + id
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><title>%s</title><p>%s", r.URL.Path, r.URL.Path)
		n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/topic"))
		for i := n; i < min(n+4, topics); i++ {
			fmt.Fprintf(w, `<a href="/topic%d%s">topic</a> `, i+1, id)
		}
	}}})
}

func sessionOptions(t *testing.T, s *site) crawler.Options {
	o := options(s.URL + "/")
	o.SessionCookies = true
	var err error
	if o.Fetch.Cookies, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	return o
}

// If the cookie keeps session ids out of the links, each page is fetched once under its plain URL, also
// in a second run; only the first page, and at most one other, is fetched twice.
func TestSessionCookies(t *testing.T) {
	t.Parallel()
	s := forum(t, 30, false)
	o := sessionOptions(t, s)
	dir := filepath.Join(t.TempDir(), "archive")
	o.Limits.Pages = 10
	r := crawl(t, dir, o)
	if r.State.Session == nil || !r.State.Session.Kept || r.State.Session.Before != 4 || r.State.Session.After != 0 {
		t.Fatalf("found %+v of the site's sessions", r.State.Session)
	}
	again := sessionOptions(t, s)
	crawl(t, dir, again)
	for path, row := range rows(t, dir) {
		if strings.Contains(path, "sid=") && row.State != "disregarded" {
			t.Errorf("%s: %s", path, row.State)
		}
	}
	twice := 0
	for i := 1; i <= 30; i++ {
		switch n := s.times(fmt.Sprintf("/topic%d", i)); n {
		case 1:
		case 2:
			twice++
		default:
			t.Errorf("/topic%d was asked for %d times", i, n)
		}
	}
	if s.times("/") != 2 || twice > 1 {
		t.Errorf("/ was asked for %d times, and %d topics twice", s.times("/"), twice)
	}
	x, err := explain.URL(dir, weburl.MustParse(s.URL+"/"), again)
	if err != nil || x.Session == nil || len(x.Visits) != 2 {
		t.Errorf("explained as %+v, %v", x, err)
	}
}

// If the ids stay in the links, one request is wasted, and no more.
func TestSessionCookiesThatDoNotHelp(t *testing.T) {
	long(t)
	t.Parallel()
	s := forum(t, 12, true)
	o := sessionOptions(t, s)
	r := crawl(t, filepath.Join(t.TempDir(), "archive"), o)
	if r.State.Session == nil || r.State.Session.Kept {
		t.Fatalf("found %+v of the site's sessions", r.State.Session)
	}
	all := 0
	for _, target := range s.requests() {
		if strings.HasPrefix(target, "/topic") {
			all++
		}
	}
	if all != 12 || s.times("/") != 2 {
		t.Errorf("%d requests for 12 topics, %d for the first page", all, s.times("/"))
	}
}

// The finding is restored when crawl.db is rebuilt.
func TestSessionCookiesRebuilt(t *testing.T) {
	t.Parallel()
	s := forum(t, 6, false)
	dir := filepath.Join(t.TempDir(), "archive")
	r := crawl(t, dir, sessionOptions(t, s))
	rebuilt(t, dir, sessionOptions(t, s))
	o := sessionOptions(t, s)
	after := crawltest.Run(t, t.Context(), dir, o, 5*time.Minute)
	if after.State.Session == nil || *after.State.Session != *r.State.Session ||
		after.Counts.OfSite().Fetched != r.Counts.OfSite().Fetched ||
		after.Counts.OfSite().Discovered != r.Counts.OfSite().Discovered {
		t.Errorf("rebuilt: %+v, %+v; was %+v, %+v", after.State.Session, after.Counts.OfSite(), r.State.Session,
			r.Counts.OfSite())
	}
}
