// Package crawltest is shared by tests of complete crawls and of outlets: it serves a site,
// runs a crawl, and verifies the archive.
package crawltest

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/crawler/verify"
	"curtsy/internal/testkit/sitetest"
	"curtsy/internal/weburl"
	"curtsy/storage"
)

// Site serves a site in the format of sitetest.Parse until the test ends.
func Site(t testing.TB, text string) (*sitetest.Site, weburl.URL) {
	t.Helper()
	s, err := sitetest.Parse([]byte(text))
	if err == nil {
		err = s.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, weburl.MustParse(s.Origin + "/")
}

// Archive crawls the site of the seed to its end into dir, which may have an archive of it,
// without delays unless change sets them.
func Archive(t testing.TB, dir string, seed weburl.URL, change ...func(*crawler.Options)) {
	t.Helper()
	o := crawler.Options{Seed: seed, RelNofollow: true, Fetch: fetch.Options{AllowHost: seed.Hostname()}}
	for _, f := range change {
		f(&o)
	}
	Run(t, t.Context(), dir, o, 5*time.Minute) // ample for slow machines
}

// Open opens an archive for reading until the test ends.
func Open(t testing.TB, dir string) *storage.Archive {
	t.Helper()
	a, err := storage.OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// Run runs a crawl on the archive in dir. It must end by itself within most, or when stop is
// done.
func Run(t testing.TB, stop context.Context, dir string, o crawler.Options, most time.Duration) crawler.Result {
	t.Helper()
	c, err := crawler.Open(dir, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	r, err := c.Run(ctx, stop)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	if ctx.Err() != nil {
		t.Fatalf("the crawl did not end in %v: %v", most, r.Counts.Reasons)
	}
	return r
}

// Sound verifies an archive, then truncates incomplete records of a killed crawl, as the next
// crawl does.
func Sound(t testing.TB, dir string) {
	t.Helper()
	report, err := verify.Archive(dir, nil)
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	for _, p := range report.Problems {
		t.Errorf("verify: %+v", p)
	}
	if len(report.Problems) > 0 {
		return
	}
	a, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	if err := a.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// Unpacked extracts an archive from a .tar.gz into a temporary directory of the test.
func Unpacked(t testing.TB, name string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "archive")
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			continue
		}
		b, err := io.ReadAll(r)
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}
