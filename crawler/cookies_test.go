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

// A page that redirects to itself and sets a cookie expects the cookie back: with cookies on it is
// fetched by the second request; with cookies off the reason says what to do.
func TestCookieWall(t *testing.T) {
	t.Parallel()
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
		crawltest.Run(t, t.Context(), dir, o, 5*time.Minute)
		row := rows(t, dir)["/"]
		switch {
		case cookies && (row.State != "fetched" || s.times("/") != 2):
			t.Errorf("with cookies: %s after %d requests (%s)", row.State, s.times("/"), row.Rule)
		case !cookies && (row.State != "failed" || s.times("/") != 1 || !strings.Contains(row.Rule, "fetch.cookies")):
			t.Errorf("without: %s after %d requests: %s", row.State, s.times("/"), row.Rule)
		}
	}
}

// A guessed sitemap that does not exist, or turns out to be a page, is neither a failure nor counted;
// it is not requested if robots.txt disallows it.
func TestGuessedSitemap(t *testing.T) {
	t.Parallel()
	for robots, most := range map[string]int{"": 1, "User-agent: *\nDisallow: /sitemap": 0} {
		for _, there := range []page{answering(404), html("<p>a page for all that is not known")} {
			s := newSite(t, map[string]page{"/robots.txt": text(robots), "/": html("<p>home"), "/sitemap.xml": there})
			o := options(s.URL + "/")
			o.GuessSitemap = true
			dir := filepath.Join(t.TempDir(), "archive")
			r := crawl(t, dir, o)
			if c := r.Counts.OfSite(); c.Failed != 0 || c.Disregarded != 0 || c.Discovered != 2 ||
				s.times("/sitemap.xml") != most {
				t.Errorf("%q: got %+v, /sitemap.xml asked for %d times", robots, c, s.times("/sitemap.xml"))
			}
			if row := rows(t, dir)["/sitemap.xml"]; most == 1 &&
				!strings.Contains(row.Rule, "none at the default location") {
				t.Errorf("the reason is %q", row.Rule)
			}
		}
	}
}

// Pages that only a guessed sitemap lists are fetched.
func TestPagesOfAGuessedSitemap(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]page{"/robots.txt": text(""), "/": html("<p>home"), "/alone": html("<p>alone")})
	s.pages["/sitemap.xml"] = text(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>` + s.URL +
		`/alone</loc></url></urlset>`)
	o := options(s.URL + "/")
	o.GuessSitemap = true
	crawl(t, filepath.Join(t.TempDir(), "archive"), o)
	if s.times("/alone") != 1 {
		t.Errorf("/alone was asked for %d times", s.times("/alone"))
	}
}
