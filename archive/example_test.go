package archive_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"curtsy/archive"
	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/internal/testkit/sitetest"
	"curtsy/internal/weburl"
	"curtsy/storage/crawllog"
)

const site = `
-- / --
<title>Home</title><a href="/cheese">cheese</a> <a href="/gone">gone</a> <a href="/diary">diary</a>
-- /cheese --
<title>Cheese</title>Gouda
-- /diary --
HTTP 200
Content-Type: text/html
X-Robots-Tag: noarchive

<title>Diary</title>
-- /robots.txt --
User-agent: *
Allow: /cheese
`

// serveSite serves a small site on this machine.
func serveSite() *sitetest.Site {
	s, err := sitetest.Parse([]byte(site))
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Start("127.0.0.1:0"); err != nil {
		log.Fatal(err)
	}
	return s
}

// crawled archives the site into a temporary directory; remove deletes it.
func crawled() (dir string, remove func()) {
	s := serveSite()
	defer s.Close()
	tmp, err := os.MkdirTemp("", "archive")
	if err != nil {
		log.Fatal(err)
	}
	dir = filepath.Join(tmp, "site")
	crawl(dir, s.Origin+"/", nil)
	return dir, func() { os.RemoveAll(tmp) }
}

// crawl archives a site into a directory; kept is called for each visit once it is durable.
func crawl(dir, url string, kept func(context.Context, *crawllog.Visit) error) {
	seed := weburl.MustParse(url)
	c, err := crawler.Open(dir, crawler.Options{Seed: seed, Fetch: fetch.Options{AllowHost: seed.Hostname()},
		Hooks: crawler.Hooks{OnVisit: kept}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Run(context.Background(), context.Background()); err != nil {
		log.Fatal(err)
	}
}

func path(url string) string { return url[strings.LastIndexByte(url, '/'):] }

func open() (*archive.Archive, func()) {
	dir, remove := crawled()
	a, err := archive.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	return a, func() {
		a.Close()
		remove()
	}
}

// Lists the titles of all pages that may be listed.
func Example_titles() {
	a, done := open()
	defer done()
	for c, err := range a.Captures() {
		if err != nil {
			log.Fatal(err)
		}
		if c.Current && c.Permit.Show && c.Permit.List && c.Status == 200 && c.Title != "" {
			fmt.Println(path(c.URL), c.Title)
		}
	}
	// Output:
	// / Home
	// /cheese Cheese
}

// Lists the links whose targets do not exist.
func Example_brokenLinks() {
	a, done := open()
	defer done()
	status, links := map[string]int{}, map[string][]string{}
	for c, err := range a.Captures() {
		if err != nil {
			log.Fatal(err)
		}
		if !c.Current {
			continue
		}
		status[c.URL] = c.Status
		if links[c.URL], err = c.Links(); err != nil {
			log.Fatal(err)
		}
	}
	for from, list := range links {
		for _, to := range list {
			if status[to] >= 400 {
				fmt.Println(path(from), "links to", path(to), status[to])
			}
		}
	}
	// Output:
	// / links to /gone 404
}

// Writes a WARC file of the pages that may be shown.
func ExampleCapture_WriteTo() {
	a, done := open()
	defer done()
	var file strings.Builder // a file would do
	records := 0
	for c, err := range a.Captures() {
		if err != nil {
			log.Fatal(err)
		}
		if c.Permit.Show && c.Status == 200 && c.Title != "" {
			if _, err := c.WriteTo(&file); err != nil {
				log.Fatal(err)
			}
			records++
		}
	}
	fmt.Println(records, "captures, gzip:", strings.HasPrefix(file.String(), "\x1f\x8b"))
	// Output:
	// 2 captures, gzip: true
}

// Shows which line of robots.txt allowed each page, and what the page itself allows.
func Example_verdicts() {
	a, done := open()
	defer done()
	for c, err := range a.Captures() {
		if err != nil {
			log.Fatal(err)
		}
		if c.Verdict != nil && c.Status == 200 {
			fmt.Println(strings.TrimSpace(fmt.Sprintf("%s line %d, shown %v %s", path(c.URL), c.Verdict.Line,
				c.Permit.Show, c.Permit.Why())))
		}
	}
	// Output:
	// / line 0, shown true
	// /cheese line 2, shown true
	// /diary line 0, shown false noarchive (X-Robots-Tag: noarchive)
}

// Runs a crawl within another program, which is told of every page once it is durable.
func Example_embed() {
	s := serveSite()
	defer s.Close()
	dir, err := os.MkdirTemp("", "archive")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	crawl(filepath.Join(dir, "site"), s.Origin+"/", func(_ context.Context, v *crawllog.Visit) error {
		fmt.Println(path(v.URL), v.Status, v.Kept)
		return nil
	})
	// Output:
	// /robots.txt 200 response
	// / 200 response
	// /cheese 200 response
	// /gone 404 response
	// /diary 200 withheld
}
