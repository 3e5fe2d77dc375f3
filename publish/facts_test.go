package publish_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"curtsy/facts"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/sitetest"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

const manyKinds = `
-- / --
<title>t</title><link rel=stylesheet href="/style.css"><a href="/a">1</a> <a href="/same">2</a> <a href="/also-same">3</a> <a href="/secret">4</a> <a href="/cyrillic">5</a>
<a href="/moved">6</a> <a href="/gone">7</a> <a href="/odd">8</a> <img src="/pic.svg" srcset="/a.png 1x, /b.png 2x"> <script src="/s.js"></script>
<a href="/unchanged">9</a> <form action="/form"></form> <meta http-equiv=refresh content="5; url=/later"> <a href="/empty">10</a>
-- /a --
<base href="/deep/"><a href="x" rel="nofollow next">x</a><link rel=alternate type="application/atom+xml" href=feed><iframe srcdoc="<a href=/in>"></iframe>
-- /same --
<a href="rel">1</a>
-- /also-same --
<a href="rel">1</a>
-- /secret --
<meta name=robots content=noarchive><a href="/only">x</a>
-- /cyrillic --
Content-Type: text/html; charset=windows-1251

<a href="/?q=ж">x</a>
-- /style.css --
Content-Type: text/css

@import "more.css"; a { background: url(bg.png) }
-- /s.js --
Content-Type: text/javascript

fetch("/api/data.json")
-- /pic.svg --
Content-Type: image/svg+xml

<svg xmlns="http://www.w3.org/2000/svg"><image href="/inner.png"/></svg>
-- /moved --
HTTP 301
Location: /a

-- /gone --
HTTP 404

<a href="/from-404">x</a>
-- /odd --
Content-Type: application/octet-stream

<a href="/x">
`

// saidBy returns the facts of each visit by its URL.
func saidBy(t *testing.T, dir string, ask bool) map[string]string {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	said := map[string]string{}
	if err := sitetest.Each(a.Visits(nil), func(v *crawllog.Visit) error {
		if b := a.Facts(v); b != nil {
			said[v.URL] = string(b)
		}
		if !ask || !publish.HasPage(v) {
			return nil
		}
		var f facts.Facts
		if err := publish.Facts(a, v, &f); err != nil || f.URL.String() != v.URL {
			t.Errorf("%s: %+v, %v", v.URL, f, err)
		}
		said[v.URL] = string(a.Facts(v))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return said
}

func TestFactsAreMadeAgainAsTheyWere(t *testing.T) {
	_, seed := crawltest.Site(t, manyKinds)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	kept := saidBy(t, dir, false)
	for _, path := range []string{"", "a", "same", "also-same", "cyrillic", "style.css", "s.js", "pic.svg", "odd"} {
		if kept[seed.String()+path] == "" {
			t.Errorf("the crawl kept nothing of /%s", path)
		}
	}
	if _, ok := kept[seed.String()+"secret"]; ok {
		t.Error("facts of a withheld page")
	}
	if err := os.RemoveAll(filepath.Join(dir, "facts")); err != nil {
		t.Fatal(err)
	}
	again := saidBy(t, dir, true)
	for url, was := range kept {
		if again[url] != was {
			t.Errorf("%s: made again\n%q, not\n%q", url, again[url], was)
		}
	}
	if _, ok := again[seed.String()+"secret"]; ok {
		t.Error("facts of a withheld page, made again")
	}
	left := saidBy(t, dir, false)
	for url, was := range again {
		if was != "" && left[url] != was {
			t.Errorf("%s: what was made again was not kept", url)
		}
	}
	if !reflect.DeepEqual(left, again) {
		t.Errorf("kept %d, made again %d", len(left), len(again))
	}
	crawltest.Sound(t, dir)
}

func TestFactsInAReadOnlyDirectory(t *testing.T) {
	_, seed := crawltest.Site(t, manyKinds)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	side := filepath.Join(dir, "facts")
	if err := os.RemoveAll(side); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(side, nil, 0o644); err != nil { // not a directory: stops root, too
		t.Fatal(err)
	}
	a := crawltest.Open(t, dir)
	var f facts.Facts
	for visits, err := range a.Histories() {
		if err != nil {
			t.Fatal(err)
		}
		v := crawllog.Current(visits, a.VisitsAt)
		if !publish.HasPage(v) || !publish.Permits(visits, time.Now(), a.VisitsAt)[0].Show {
			continue
		}
		if err := publish.Facts(a, v, &f); err != nil || v.Links != len(f.Links) {
			t.Errorf("%s: %d links, want %d: %v", v.URL, len(f.Links), v.Links, err)
		}
	}
}

// If a segment or a file that it refers to cannot be read, the page must not count as one
// without links: such facts would be kept, and stay when the file is back.
func TestWhatIsOfTheArchiveAndNotOfTheSite(t *testing.T) {
	gone := &fs.PathError{Op: "stat", Path: "x.warc.gz", Err: fs.ErrNotExist}
	for err, want := range map[error]bool{
		&storage.DamageError{File: "crawl.db"}: true, fmt.Errorf("read x: %w", &storage.LinkError{Err: gone}): true,
		io.ErrUnexpectedEOF: false, storage.ErrNoBody: false,
	} {
		if publish.IsOfArchive(err) != want {
			t.Errorf("%v: %v, want %v", err, !want, want)
		}
	}
	if err := error(&storage.LinkError{Err: gone}); errors.Is(err, fs.ErrNotExist) {
		t.Error("a linked file that is not there is taken for OUT that is not")
	}
}
