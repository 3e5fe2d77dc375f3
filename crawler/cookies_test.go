package crawler_test

import (
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/internal/testkit/crawltest"
)

// A page that redirects to itself and sets a cookie wants it back: with cookies it
// is there at the second request, without the reason says what to do.
func TestCookieWall(t *testing.T) {
	for _, cookies := range []bool{false, true} {
		s := newSite(t, map[string]page{"/": {serve: func(w http.ResponseWriter, r *http.Request) {
			if _, err := r.Cookie("seen"); err != nil {
				http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
				http.Redirect(w, r, "/", http.StatusFound)
				return
			}
			w.Write([]byte("<!doctype html><p>the page"))
		}}})
		o := options(s.URL + "/")
		o.RetryBase, o.Retries = time.Hour, 3
		if cookies {
			o.Fetch.Cookies, _ = cookiejar.New(nil)
		}
		dir := filepath.Join(t.TempDir(), "archive")
		crawltest.Run(t, t.Context(), dir, o, time.Minute)
		row := rows(t, dir)["/"]
		switch {
		case cookies && (row.State != "fetched" || s.times("/") != 2):
			t.Errorf("with cookies: %s after %d requests (%s)", row.State, s.times("/"), row.Rule)
		case !cookies && (row.State != "failed" || s.times("/") != 1 || !strings.Contains(row.Rule, "fetch.cookies")):
			t.Errorf("without: %s after %d requests: %s", row.State, s.times("/"), row.Rule)
		}
	}
}

// A sitemap that was only guessed at is no failure where there is none.
func TestGuessedSitemap(t *testing.T) {
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": html("<p>home")})
	o := options(s.URL + "/")
	o.GuessSitemap = true
	if r := crawl(t, filepath.Join(t.TempDir(), "archive"), o); r.Counts.Failed != 0 || s.times("/sitemap.xml") != 1 {
		t.Errorf("got %+v, /sitemap.xml asked for %d times", r.Counts, s.times("/sitemap.xml"))
	}
}
