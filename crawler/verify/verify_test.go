package verify_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"curtsy/crawler/verify"
	"curtsy/internal/testkit/crawltest"
	"curtsy/storage"
)

const site = "-- / --\n<title>Home</title><a href=/a>a</a>\n-- /a --\n<title>A</title>text\n"

// A damaged record is reported with its URL; a repair queues the URL, and the next run fetches it
// again.
func TestRepair(t *testing.T) {
	_, seed := crawltest.Site(t, site)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	if r, err := verify.Archive(dir, nil); err != nil || len(r.Problems) > 0 || r.Visits < 2 {
		t.Fatalf("before: %+v, %v", r, err)
	}
	a := crawltest.Open(t, dir)
	visits := a.VisitsAt(seed.Origin() + "/a")
	at := visits[len(visits)-1].Record
	a.Close()
	path := filepath.Join(dir, "warc", at.Segment)
	octets, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	octets[at.Offset+at.Length/2] ^= 1
	if err := os.WriteFile(path, octets, 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := verify.Archive(dir, nil)
	if err != nil || len(r.Problems) != 1 || r.Problems[0].URL != seed.Origin()+"/a" {
		t.Fatalf("damaged: %+v, %v", r, err)
	}
	done, err := verify.Repair(dir, slog.New(slog.DiscardHandler))
	if err != nil || !strings.Contains(strings.Join(done, "\n"), "1 visit damaged, queued again") {
		t.Errorf("repair: %q, %v", done, err)
	}
	if done, err = verify.Repair(dir, slog.New(slog.DiscardHandler)); err != nil || len(done) > 0 {
		t.Errorf("a second repair has nothing to do: %q, %v", done, err)
	}
	crawltest.Archive(t, dir, seed)
	crawltest.Sound(t, dir)
	if visits := crawltest.Open(t, dir).VisitsAt(seed.Origin() + "/a"); len(visits) != 1 {
		t.Errorf("%d visits of what was fetched again", len(visits))
	}
}

// Without an index a repair changes nothing; the segments still tell the seed.
func TestWithoutAnIndex(t *testing.T) {
	_, seed := crawltest.Site(t, site)
	dir := filepath.Join(t.TempDir(), "archive")
	crawltest.Archive(t, dir, seed)
	if err := os.WriteFile(filepath.Join(dir, "crawl.db"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var damage *storage.DamageError
	if _, err := verify.Repair(dir, slog.New(slog.DiscardHandler)); !errors.As(err, &damage) || !damage.Index() {
		t.Errorf("repair: %v", err)
	}
	if u, ok := verify.FirstSeed(dir); !ok || u != seed {
		t.Errorf("the first seed is %v, want %v", u, seed)
	}
	if u, ok := verify.FirstSeed(t.TempDir()); ok {
		t.Errorf("an empty directory has the seed %v", u)
	}
}
