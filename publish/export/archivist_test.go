package export_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"curtsy/internal/testkit/crawltest"
	"curtsy/publish/export"
	"curtsy/publish/inventory"
)

const logSite = `
-- /robots.txt --
User-agent: *
Disallow: /closed
-- / --
<title>start</title><link rel=stylesheet href=/s.css><a href="/a">a</a> <a href="/moved">m</a> <a href="/closed">c</a> <a href="/unlisted">u</a> <a href="/hidden">h</a>
-- /s.css --
HTTP 200
Content-Type: text/css

p { color: red }
-- /a --
<title>a</title>one body
-- /moved --
HTTP 301
Location: /b

-- /b --
<title>a</title>one body
-- /unlisted --
HTTP 200
X-Robots-Tag: noindex
Content-Type: text/html

<title>u</title>SECRET <a href="/from-unlisted">x</a>
-- /from-unlisted --
<title>f</title>
-- /hidden --
HTTP 200
X-Robots-Tag: noarchive
Content-Type: text/html

<title>h</title>
`

func TestCrawlLogAndBag(t *testing.T) {
	t.Parallel()
	_, seed := crawltest.Site(t, logSite)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	f, err := a.Frontier()
	if err != nil {
		t.Fatal(err)
	}
	o := export.Options{Format: export.CrawlLog, Seed: seed, Now: time.Now(), Software: "curtsy/test",
		Known: inventory.KnownOf(f)}
	out := filepath.Join(t.TempDir(), "crawl.log")
	_, b := write(t, a, out, o)
	got := map[string]string{} // status, path of hops, via, type, annotations
	last := ""
	for line := range strings.Lines(string(b)) {
		c := strings.Fields(line)
		if len(c) != 12 || c[0] < last {
			t.Errorf("%d columns, after %s: %s", len(c), last, line)
			continue
		}
		last = c[0]
		path := strings.TrimPrefix(c[3], seed.Origin())
		got[path] = strings.Join([]string{c[1], c[4], strings.TrimPrefix(c[5], seed.Origin()), c[6], c[11]}, " ")
	}
	for path, want := range map[string]string{
		"/": "200 - - text/html -", "/s.css": "200 E / text/css -", "/moved": "301 L / text/html -",
		"/b":      "200 LR /moved text/html duplicate:digest,warcRevisit:digest",
		"/closed": "-9998 L / no-type -", "/hidden": "200 L / text/html noarchive", "/unlisted": "",
		"/from-unlisted": "200 LL - text/html -",
	} {
		if got[path] != want {
			t.Errorf("%s: got %q, want %q", path, got[path], want)
		}
	}
	write(t, a, out, o) // replaces its own file

	o.Format = export.BagIt
	bag := filepath.Join(t.TempDir(), "x.bagit")
	for range 2 { // replaces its own directory, too
		if r, err := export.Write(context.Background(), a, bag, o); err != nil || r.Captures != 8 && r.Captures != 9 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	files := 0
	for _, manifest := range []string{"manifest-sha256.txt", "tagmanifest-sha256.txt"} {
		text, _ := os.ReadFile(filepath.Join(bag, manifest))
		for line := range strings.Lines(string(text)) {
			sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			b, err := os.ReadFile(filepath.Join(bag, name))
			if s := sha256.Sum256(b); err != nil || hex.EncodeToString(s[:]) != sum {
				t.Errorf("%s: %s: %v", manifest, name, err)
			}
			files++
		}
	}
	if files != 5 {
		t.Errorf("%d files have checksums", files)
	}
	if err := os.Remove(filepath.Join(bag, "bag-info.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := export.Write(context.Background(), a, bag, o); !errors.Is(err, export.ErrNotOurs) {
		t.Errorf("over a foreign directory: %v", err)
	}
}

// A bag replaces an older one atomically: at every moment there is one.
func TestThereIsAlwaysABag(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it takes three steps")
	}
	a, seed := crawled(t)
	o := export.Options{Format: export.BagIt, Seed: seed, Now: time.Now(), Software: "curtsy/test",
		Known: func(func(inventory.Known) error) error { return nil }}
	out := filepath.Join(t.TempDir(), "bag")
	var ended atomic.Bool
	var looks sync.WaitGroup
	for n := range 8 {
		if _, err := export.Write(t.Context(), a, out, o); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			looks.Go(func() {
				for !ended.Load() {
					if _, err := os.Lstat(out); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	ended.Store(true)
	looks.Wait()
	if left, _ := os.ReadDir(filepath.Dir(out)); len(left) != 1 {
		t.Errorf("beside it lie %v", left)
	}
}
