package crawler_test

import (
	"errors"
	"log/slog"
	"reflect"
	"testing"

	"curtsy/crawler/verify"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/testkit/sitetest"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// An archive of schema 4, which identified payloads by SHA-1 and kept reasons as prose, is converted to
// the current schema from its segments.
func TestAnArchiveOfAnEarlierSchemaIsRebuilt(t *testing.T) {
	t.Parallel()
	dir := crawltest.Unpacked(t, "testdata/schema4.tar.gz")
	if _, err := verify.Archive(dir, nil); !errors.Is(err, storage.ErrOld) {
		t.Errorf("verify says %v, want that it is an earlier version's", err)
	}
	if _, err := verify.Repair(dir, slog.New(slog.DiscardHandler)); !errors.Is(err, storage.ErrOld) {
		t.Errorf("repair says %v, want that it is an earlier version's", err)
	}
	info, ok := storage.LastInfo(dir)
	if !ok || info.Crawl == nil {
		t.Fatal("its segment says nothing of the crawl")
	}
	seed, ok := verify.FirstSeed(dir)
	if !ok {
		t.Fatal("no seed")
	}
	d := rebuilt(t, dir, options(seed.String()))
	if d.Visits != 25 || len(d.Problems) > 0 {
		t.Errorf("%d visits, %v; want all 25", d.Visits, d.Problems)
	}
	check(t, dir)
}

// Schemas 5 and 6, whose visits are JSON, plain and compressed, and schema 7 are read as they are; the
// first commit converts them to the current schema, with visits in both forms.
func TestAnArchiveOfSchema5To7IsReadAndContinued(t *testing.T) {
	for _, name := range []string{"schema5.tar.gz", "schema6.tar.gz", "schema7.tar.gz"} {
		t.Run(name, func(t *testing.T) { readAndContinued(t, name) })
	}
}

func readAndContinued(t *testing.T, name string) {
	dir := crawltest.Unpacked(t, "testdata/"+name)
	visits := func() (list []crawllog.Visit) {
		t.Helper()
		a, err := storage.Open(dir, storage.Options{Alone: true})
		if err == nil {
			err = errors.Join(sitetest.Each(a.Visits(nil),
				func(v *crawllog.Visit) error { list = append(list, *v); return nil }), a.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	check(t, dir)
	before := visits()
	a, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	changed := before[len(before)-1]
	if err := errors.Join(a.Amend(changed.Ref(), func(v *crawllog.Visit) { v.Suspect = "seen by a test" }),
		a.Commit(nil), a.Close()); err != nil {
		t.Fatal(err)
	}
	check(t, dir)
	changed.Suspect = "seen by a test"
	if after := visits(); len(before) < 8 || !reflect.DeepEqual(after, append(before[:len(before)-1], changed)) {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
}
