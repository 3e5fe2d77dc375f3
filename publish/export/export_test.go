package export_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
	"curtsy/publish/export"
	"curtsy/publish/inventory"
	"curtsy/storage"
	"curtsy/storage/warc"
)

// site has pages with every permit. /same has the content of /hidden under a header that allows
// it; the original is withheld.
const site = `
-- / --
<!DOCTYPE html><title>start =1</title><a href="/a">a</a> <a href="/a2">a</a> <a href="/hidden">h</a> <a href="/unlisted">u</a> <a href="/late">l</a> <a href="/short">s</a>
-- /short --
HTTP 200
X-Robots-Tag: max-snippet:20
Content-Type: text/html

<title>short</title><p>SECRET-SNIPPET</p>
-- /a --
<title>a</title>one body <span data-nosnippet>SECRET-SPAN</span>
-- /a2 --
<title>a</title>one body <span data-nosnippet>SECRET-SPAN</span>
-- /hidden --
HTTP 200
X-Robots-Tag: noarchive
Content-Type: text/html

<title>hidden</title>SECRET-NOARCHIVE
-- /unlisted --
HTTP 200
X-Robots-Tag: noindex
Content-Type: text/html

<title>unlisted</title>SECRET-NOINDEX
-- /late --
HTTP 200
X-Robots-Tag: unavailable_after: 1 Jan 2030
Content-Type: text/html

<title>late</title>SECRET-EXPIRED <a href="/late2">the same, met after it</a>
-- /late2 --
<title>late</title>SECRET-EXPIRED <a href="/late2">the same, met after it</a>
`

// crawled returns an archive of the site.
func crawled(t *testing.T) (*storage.Archive, weburl.URL) {
	t.Helper()
	_, seed := crawltest.Site(t, site)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	return crawltest.Open(t, dir), seed
}

func write(t *testing.T, a *storage.Archive, out string, o export.Options) (*export.Result, []byte) {
	t.Helper()
	r, err := export.Write(context.Background(), a, out, o)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil || int64(len(b)) != r.Bytes {
		t.Fatalf("%v: %d octets, the result says %d", err, len(b), r.Bytes)
	}
	return r, b
}

// records returns the records of a WARC file as types and URLs, and all blocks.
func records(t *testing.T, b []byte) (list []string, blocks string) {
	t.Helper()
	r := warc.NewReader(bytes.NewReader(b), 0)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return list, blocks
		}
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		blocks += string(block)
		path := h.TargetURI[min(len(h.TargetURI), strings.LastIndexByte(h.TargetURI, '/')+1):]
		list = append(list, h.Type+" "+path)
	}
}

func TestOnlyWhatMayBeShownLeaves(t *testing.T) {
	t.Parallel()
	a, seed := crawled(t)
	before, after := time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		now      time.Time
		shown    string
		captures int
	}{
		{before, "SECRET-EXPIRED", 8},
		// /late2 is a revisit of /late: since what it refers to is excluded, it is too.
		{after, "", 6},
	} {
		out := filepath.Join(t.TempDir(), "out.warc.gz")
		r, b := write(t, a, out, export.Options{Format: export.WARC, Seed: seed, Now: c.now})
		list, blocks := records(t, b)
		for _, secret := range []string{"SECRET-NOARCHIVE", "SECRET-EXPIRED"} {
			if strings.Contains(blocks, secret) != (secret == c.shown) {
				t.Errorf("in %d: %s: %q", c.now.Year(), secret, list)
			}
		}
		if r.Captures != c.captures || list[0] != "warcinfo " {
			t.Errorf("in %d: %d captures: %q", c.now.Year(), r.Captures, list)
		}
		if revisits := strings.Count(strings.Join(list, ","), "revisit"); (c.shown == "") != (revisits == 1) {
			t.Errorf("in %d: %d revisits: %q", c.now.Year(), revisits, list)
		}
	}
}

func TestWACZ(t *testing.T) {
	t.Parallel()
	a, seed := crawled(t)
	out := filepath.Join(t.TempDir(), "out.wacz")
	write(t, a, out, export.Options{Format: export.WACZ, Seed: seed, Now: time.Now(), Software: "curtsy/test"})
	z, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	read := func(name string) string {
		f, err := z.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return string(b)
	}
	pages := read("pages/pages.jsonl")
	if strings.Contains(pages, "/unlisted") || strings.Contains(pages, "/hidden") || strings.Count(pages, "\n") != 7 {
		t.Errorf("pages:\n%s", pages)
	}
	if !strings.Contains(pages, "one body") || strings.Contains(pages, "SECRET-SPAN") ||
		strings.Contains(pages, "SECRET-SNIPPET") || !strings.Contains(pages, "SECRET-EXPIRED") {
		t.Errorf("texts:\n%s", pages)
	}
	if d := read("datapackage.json"); !strings.Contains(d, `"mainPageUrl": "`+seed.String()+`"`) ||
		!strings.Contains(d, `"title": "start =1"`) {
		t.Errorf("datapackage: %s", d)
	}
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "archive/") {
			if list, _ := records(t, []byte(read(f.Name))); list[0] != "warcinfo " || f.Method != zip.Store {
				t.Errorf("%s: %d %q", f.Name, f.Method, list)
			}
		}
	}
}

// A 304 capture is in the WARC but not in the index: readers would take it for a redirect, and
// show it in place of the page.
func TestTheIndexOfAWACZHasNo304(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader("<title>x</title>"))
			return
		}
		http.NotFound(w, r)
	}))
	defer s.Close()
	seed := weburl.MustParse(s.URL + "/")
	dir, out := filepath.Join(t.TempDir(), "archive"), filepath.Join(t.TempDir(), "out.wacz")
	crawltest.Archive(t, dir, seed)
	crawltest.Archive(t, dir, seed, func(o *crawler.Options) { o.Round = &revisit.Options{} })
	a := crawltest.Open(t, dir)
	r, _ := write(t, a, out, export.Options{Format: export.WACZ, Seed: seed, Now: time.Now(), Software: "curtsy/test"})
	index := ""
	z, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, "indexes/") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var from io.Reader = in
		if strings.HasSuffix(f.Name, ".gz") {
			if from, err = gzip.NewReader(in); err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		index += string(text)
	}
	if strings.Count(index, s.URL+`/"`) != 1 || strings.Contains(index, `"304"`) || r.Pages != 1 {
		t.Errorf("%d pages, index:\n%s", r.Pages, index)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	a, seed := crawled(t)
	for _, format := range []export.Format{export.Text, export.MD} {
		out := filepath.Join(t.TempDir(), "out."+string(format))
		r, b := write(t, a, out, export.Options{Format: format, Seed: seed, Now: time.Now()})
		text := string(b)
		for _, secret := range []string{"SECRET-SPAN", "SECRET-SNIPPET", "SECRET-NOINDEX", "SECRET-NOARCHIVE"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: %s: %s", format, secret, text)
			}
		}
		want := "---\nurl: \"" + seed.String() + "\"\ntitle: \"start =1\"\ncaptured: "
		if !strings.HasPrefix(text, want) || !strings.Contains(text, "\n\none body\n") || r.Pages != 5 {
			t.Errorf("%s: %d pages: %s", format, r.Pages, text)
		}
	}
}

func TestAnonymous(t *testing.T) {
	t.Parallel()
	a, seed := crawled(t)
	out := filepath.Join(t.TempDir(), "out.warc.gz")
	_, b := write(t, a, out, export.Options{Format: export.WARC, Seed: seed, Now: time.Now(), Anonymous: true})
	list, blocks := records(t, b)
	if strings.Contains(strings.ToLower(blocks), "user-agent") || strings.Contains(blocks, "curtsy-") ||
		strings.Contains(strings.Join(list, " "), "request") {
		t.Errorf("%q: %s", list, blocks)
	}
}

// A killed export leaves a temporary file, or a directory for a mirror or a bag: the next
// export removes it, unless it contains something so recent that another process may be writing
// it.
func TestWhatAKilledExportLeftIsRemoved(t *testing.T) {
	t.Parallel()
	a, seed := crawled(t)
	for _, format := range []export.Format{export.WARC, export.BagIt} {
		dir := t.TempDir()
		for name, age := range map[string]time.Duration{".out.curtsy-new-1/tree/old": 2 * time.Hour,
			".out.curtsy-new-2/tree/young": time.Minute, ".out.curtsy-new-3": 2 * time.Hour} {
			path, at := dir+"/"+name, time.Now().Add(-age)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			for _, old := range []string{path, filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
				if age > time.Hour && len(old) > len(dir) {
					if err := os.Chtimes(old, at, at); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		o := export.Options{Format: format, Seed: seed, Now: time.Now(), Known: func(func(inventory.Known) error) error {
			return nil
		}}
		if _, err := export.Write(t.Context(), a, filepath.Join(dir, "out"), o); err != nil {
			t.Fatal(err)
		}
		var left []string
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if want := []string{".out.curtsy-new-2", "out"}; !slices.Equal(left, want) {
			t.Errorf("%s: %q is left, want %q", format, left, want)
		}
	}
}

func TestWhatNoExportMadeStays(t *testing.T) {
	t.Parallel()
	a, seed := crawled(t)
	dir := t.TempDir()
	letter := filepath.Join(dir, "letter.wacz")
	if err := os.WriteFile(letter, []byte("Dear Ann,"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := export.Options{Format: export.WACZ, Seed: seed, Now: time.Now(), Software: "curtsy/test"}
	for _, format := range []export.Format{export.WACZ, export.WARC, export.CDXJ, export.CSV, export.JSONL,
		export.Text, export.MD} {
		o.Format = format
		if _, err := export.Write(context.Background(), a, letter, o); !errors.Is(err, export.ErrNotOurs) {
			t.Errorf("%s: %v", format, err)
		}
	}
	o.Format = export.WACZ
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o.Force = true
	if _, err := export.Write(ctx, a, letter, o); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if b, _ := os.ReadFile(letter); string(b) != "Dear Ann," {
		t.Errorf("an export that was stopped has written: %q", b)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files are left: %v", left)
	}
	write(t, a, letter, o)
	o.Force = false
	write(t, a, letter, o) // now it is one
}
