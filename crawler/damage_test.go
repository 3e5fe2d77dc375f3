package crawler_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/crawler/status"
	"curtsy/crawler/verify"
	"curtsy/internal/weburl"
	"curtsy/storage"
)

// small is a site of twenty pages with non-trivial bodies, and one disallowed page.
func small(t *testing.T) *site {
	s := newSite(t, map[string]page{"/robots.txt": text("User-agent: *\nDisallow: /private\n")})
	var all []string
	for i := range 20 {
		target := fmt.Sprintf("/page/%c", 'a'+i)
		all = append(all, target)
		// with titles, so that the visits take more than one page of crawl.db
		s.pages[target] = html("<title>" + strings.Repeat("a page ", 12) + "</title>" + strings.Repeat(target+" ", 200) + "<a href=/>home</a>")
	}
	s.pages["/"] = links(append(all, "/private")...)
	return s
}

// crawled crawls a site and returns the archive's directory.
func crawled(t *testing.T, s *site) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	crawl(t, dir, options(s.URL+"/"))
	return dir
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no segments: %v", err)
	}
	return names
}

// sum returns a digest of the names and contents of all segments.
func sum(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	for _, name := range segments(t, dir) {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(h, name, len(b))
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// everything runs every operation on an archive and returns the error of each.
func everything(t *testing.T, dir string, o crawler.Options) map[string]error {
	said := map[string]error{}
	c, err := crawler.Open(dir, o)
	if err == nil {
		_, err = c.Run(t.Context(), t.Context())
		c.Close()
	}
	said["crawl"] = err
	_, said["status"] = status.Read(dir)
	_, said["explain"] = explain.URL(dir, weburl.MustParse(o.Seed.Origin()+"/page/c"), o)
	_, said["list"] = explain.List(dir)
	report, err := verify.Archive(dir, nil)
	if err == nil && len(report.Problems) > 0 {
		err = &storage.DamageError{What: "reported"}
	}
	said["verify"] = err
	_, said["repair"] = verify.Repair(dir, slog.New(slog.DiscardHandler))
	return said
}

func TestDatabaseThatIsGoneOrNoneIsAnErrorAndNothingIsDeleted(t *testing.T) {
	t.Parallel()
	s := small(t)
	base := crawled(t, s)
	db := filepath.Join(base, "crawl.db")
	good, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	before := sum(t, base)
	used := pagesInUse(t, db)
	for name, bad := range map[string][]byte{
		"missing":          nil,
		"empty":            {},
		"zeros":            make([]byte, len(good)),
		"text":             bytes.Repeat([]byte("this is no database\n"), 5000),
		"cut to half":      good[:used/2],
		"cut to one page":  good[:4096],
		"cut to 100 bytes": good[:100],
		"cut by one page":  good[:used-4096],
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.Remove(db); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			if name != "missing" {
				if err := os.WriteFile(db, bad, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for what, err := range everything(t, base, options(s.URL+"/")) {
				var damage *storage.DamageError
				if !errors.As(err, &damage) {
					t.Errorf("%s says %v, want that the archive is damaged", what, err)
				}
			}
			if sum(t, base) != before {
				t.Error("segments were changed or deleted")
			}
			if b, _ := os.ReadFile(db); !bytes.Equal(b, bad) {
				t.Error("crawl.db was written to")
			}
		})
	}
}

// pagesInUse returns how many octets of crawl.db the pages of the database take up.
func pagesInUse(t *testing.T, path string) (n int64) {
	t.Helper()
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.View(func(tx *bbolt.Tx) error { n = tx.Size(); return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDatabaseOfAnotherProgramIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "crawl.db")
	db, err := bbolt.Open(path, 0o644, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("theirs")); return err }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	for what, err := range everything(t, dir, options("http://127.0.0.1:9/")) {
		if err == nil || !strings.Contains(err.Error(), "not a curtsy archive") {
			t.Errorf("%s says %v, want that this is no archive", what, err)
		}
	}
	after, _ := os.ReadFile(path)
	// bbolt writes its free list again when it closes a file opened for writing; the data is unchanged.
	if len(after) != len(before) {
		t.Errorf("crawl.db had %d bytes, now %d", len(before), len(after))
	}
}

// Random octets anywhere in crawl.db never cause a panic or the loss of a segment.
func TestDatabaseWithRandomOctetsNeverPanics(t *testing.T) {
	long(t)
	t.Parallel()
	s := small(t)
	base := crawled(t, s)
	db := filepath.Join(base, "crawl.db")
	good, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 1))
		bad := bytes.Clone(good)
		at, n := r.IntN(len(bad)), 1+r.IntN(3000)
		if seed%3 == 0 {
			at, n = r.IntN(2)*4096+r.IntN(200), 1+r.IntN(64) // meta pages
		}
		for i := at; i < min(at+n, len(bad)); i++ {
			bad[i] = byte(r.Uint32())
		}
		dir := filepath.Join(t.TempDir(), "archive")
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "crawl.db"), bad, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Logf("seed %d: %d octets at %d of %d", seed, n, at, len(bad))
		for what, err := range everything(t, dir, options(s.URL+"/")) {
			t.Logf("  %s: %v", what, err)
		}
		segments(t, dir)
	}
}
