package changes_test

import (
	"context"
	"errors"
	"testing"

	"curtsy/internal/testkit/crawltest"
	"curtsy/publish/changes"
)

func TestCompare(t *testing.T) {
	s, seed := crawltest.Site(t, "-- / --\n<title>x</title><p>Open at eight. <a href=/b>b</a>\n-- /b --\n<title>x</title><p>Open at nine.\n")
	dir := t.TempDir() + "/b"
	crawltest.Archive(t, dir, seed)
	a := crawltest.Open(t, dir)
	last := func(path string) changes.Copy {
		visits := a.VisitsAt(s.Origin + path)
		if len(visits) == 0 {
			t.Fatalf("%s was not visited", path)
		}
		return changes.Copy{Archive: a, Visit: visits[len(visits)-1]}
	}
	was, now := last("/"), last("/b")
	if list, err := changes.Compare(t.Context(), was, now); err != nil || len(list) != 1 ||
		list[0].Now != "Open at nine." {
		t.Errorf("%+v, %v", list, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if list, err := changes.Compare(ended, was, now); !errors.Is(err, context.Canceled) || list != nil {
		t.Errorf("after the end of its context: %+v, %v", list, err)
	}
}
