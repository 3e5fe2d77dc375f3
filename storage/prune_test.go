package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"curtsy/internal/testkit/sitetest"
	"curtsy/storage/crawllog"
)

func TestPrune(t *testing.T) {
	t.Parallel()
	dir, places := five(t)
	a, err := OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	before, err := os.ReadFile(filepath.Join(dir, warcDir, places[0].Segment))
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "pruned")
	drop := map[crawllog.Ref]bool{{URLID: 2, N: 1}: true, {URLID: 4, N: 1}: true}

	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	sound := func(string) error { return nil }
	if err := a.Prune(stopped, to, drop, Options{}, nil, sound); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	unsound := errors.New("not sound")
	if err := a.Prune(t.Context(), to, drop, Options{}, nil, func(string) error { return unsound }); !errors.Is(err,
		unsound) {
		t.Errorf("not sound: %v", err)
	}
	if left, _ := filepath.Glob(to + "*"); len(left) > 0 {
		t.Errorf("a prune that was stopped left %q", left)
	}

	err = a.Prune(t.Context(), to, drop, Options{}, nil, func(string) error {
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it has its name before it is checked: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenRead(to)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if r, err := b.Verify(nil); err != nil || len(r.Problems) > 0 || r.Visits != 3 {
		t.Errorf("verify: %+v, %v", r, err)
	}
	after, err := os.ReadFile(filepath.Join(dir, warcDir, places[0].Segment))
	if err != nil || string(after) != string(before) {
		t.Errorf("the segment that was read is another now: %v", err)
	}
	if err := a.Prune(t.Context(), to, drop, Options{}, nil, sound); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an archive that is there: %v", err)
	}
}

// All records can be pruned, but the newest segment stays, since it holds the crawl's settings.
func TestPruneOfEverything(t *testing.T) {
	dir, _ := five(t)
	w := begun(t, dir, Options{Crawl: "set so"})
	w.n = 5
	w.page("http://h/six", "six")
	w.commit()
	w.close()
	a, err := OpenRead(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	drop := map[crawllog.Ref]bool{}
	if err := sitetest.Each(a.Visits(nil),
		func(v *crawllog.Visit) error { drop[v.Ref()] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "pruned")
	if err := a.Prune(t.Context(), to, drop, Options{}, nil, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if info, ok := LastInfo(to); !ok || string(info.Crawl) != `"set so"` || len(namesIn(t, to)) != 1 {
		t.Errorf("the segments that are left: %q, the newest says %q", namesIn(t, to), info.Crawl)
	}
}
