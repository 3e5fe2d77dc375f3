package inventory_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/sitetest"
	"curtsy/publish/inventory"
	"curtsy/storage"
)

var site = `
-- /robots.txt --
User-agent: *
Disallow: /private/
Sitemap: {{origin}}/sitemap.xml
-- /sitemap.xml --
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{{origin}}/listed-and-gone</loc></url></urlset>
-- / --
<a href="/page">1</a> <a href="/gone#part">2</a> <a href="/gone">3</a> <a href="/private/x">4</a>
<a href="/moved">5</a> <a href="/moved-to-gone">6</a> <a href="/moved-far">7</a> <a href="/circle">8</a> <a href="/chain0">9</a>
<img src="/gone.png"> <form action="/form-gone"></form> <a href="http://elsewhere.invalid/">9</a>
<a href="/secret">10</a> <a href="mailto:x@y.example">11</a> <a href="http://[bad">12</a> <a href="htp://typo/">13</a> <a href="http://[bad">14</a>
<img src="https://a b/c.png"><a href="mailto:nobody">15</a> <a href="tel:+359">16</a> <a href="javascript:void(0)">17</a> <form action="http://[form"></form>
-- /page --
<title>=cmd</title><link rel="canonical" href="/page"><a href="/gone">back</a>
-- /secret --
<meta name="robots" content="noarchive"><a href="/only-from-secret">x</a>
-- /only-from-secret --
HTTP 410

-- /gone --
HTTP 404

-- /gone.png --
HTTP 404

-- /listed-and-gone --
HTTP 404

-- /moved --
HTTP 301
Location: /page

-- /moved-to-gone --
HTTP 302
Location: /gone

-- /moved-far --
HTTP 301
Location: http://elsewhere.invalid/far

-- /circle --
HTTP 302
Location: /circle2

-- /circle2 --
HTTP 302
Location: /circle

` + chain(24)

// chain returns so many redirects, each to the next.
func chain(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf("-- /chain%d --\nHTTP 302\nLocation: /chain%d\n\n", i, i+1)
	}
	return text
}

// crawled archives the site; open returns what the tests read.
func crawled(t *testing.T) (*sitetest.Site, *storage.Archive, inventory.EachKnown) {
	t.Helper()
	s, seed := crawltest.Site(t, site)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	f, err := a.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	return s, a, inventory.KnownOf(f)
}

func TestLinksAreJudgedByWhatTheirTargetsAnswered(t *testing.T) {
	s, a, known := crawled(t)
	got := map[string]string{}
	err := inventory.Links(context.Background(), a, inventory.Options{Known: known, Now: time.Now()},
		func(from string, links []inventory.Link) error {
			for _, l := range links {
				if l.From != from {
					t.Errorf("a link of %s among those of %s", l.From, from)
				}
				name := strings.ReplaceAll(l.From+" > "+l.To, s.Origin, "")
				if _, twice := got[name]; twice {
					t.Errorf("%s is given twice", name)
				}
				got[name] = fmt.Sprintf("%d %v %s", l.Status, l.Broken, strings.ReplaceAll(l.Reason, s.Origin, ""))
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ link, want string }{
		{"/ > /page", "200 false "},
		{"/ > /gone", "404 true http: 404"},
		{"/page > /gone", "404 true http: 404"},
		{"/ > /form-gone", "404 true http: 404"},
		{"/page > /page", "200 false "},
		{"/ > /gone.png", "404 true http: 404"},
		{"/ > /private/x", "0 false robots.txt"},
		{"/ > /moved", "301 false redirect: to /page"},
		{"/ > /moved-to-gone", "302 true redirect: to /gone: http: 404"},
		{"/ > /moved-far", "301 false redirect: to http://elsewhere.invalid/far"},
		{"/ > /circle", "302 true redirect: in a circle"},
		{"/ > /chain0", "302 true redirect: more than 20 in a row"},
		{"/ > http://elsewhere.invalid/", "0 false scope: "},
		{"/ > /secret", "200 false "},
		{"/secret > /only-from-secret", "410 true http: 410"},
		{"/sitemap.xml > /listed-and-gone", "404 true http: 404"},
		{"/ > http://[bad", "0 true no URL: "},
		{"/ > https://a b/c.png", "0 true no URL: "},
		{"/ > http://[form", "0 true no URL: "},
		{"/ > htp://typo/", "0 true no scheme that is known: htp:"},
		{"/ > mailto:nobody", "0 true mailto: no mail address: nobody"},
	} {
		if !strings.HasPrefix(got[c.link], c.want) || got[c.link] == "" {
			t.Errorf("%s: %q, want %q", c.link, got[c.link], c.want)
		}
		delete(got, c.link)
	}
	if len(got) > 0 {
		t.Errorf("more links than there are: %q", got)
	}
}

func TestRowsSayWhatBecameOfEveryURL(t *testing.T) {
	s, a, known := crawled(t)
	rows := map[string]*inventory.Row{}
	if err := inventory.Rows(a, known, time.Now(), func(r *inventory.Row) error {
		rows[strings.TrimPrefix(r.URL, s.Origin)] = r
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	page := rows["/page"]
	if page.Title != "=cmd" || page.Status != 200 || page.Via != s.Origin+"/" || page.Depth != 1 || page.First == nil ||
		page.Digest == "" {
		t.Errorf("/page: %+v", page)
	}
	if r := rows["/secret"]; r.Title != "" || r.Digest != "" {
		t.Errorf("of a page with noarchive: %+v", r)
	}
	if r := rows["/private/x"]; r.State != "disregarded" || !strings.HasPrefix(r.Reason, "robots.txt") ||
		r.First != nil {
		t.Errorf("/private/x: %+v", r)
	}
	if r := rows["/"]; r.Via != "" || r.Class != "page" || r.How != "seed" {
		t.Errorf("the seed: %+v", r)
	}
}
