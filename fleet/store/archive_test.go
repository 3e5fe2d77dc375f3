package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/frontier/judge"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage"
)

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// pages starts a site of n pages, each of which links to the next.
func pages(t *testing.T, n int) (seed string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := 0
		if r.URL.Path != "/" {
			if _, err := fmt.Sscanf(r.URL.Path, "/%d", &i); err != nil {
				http.NotFound(w, r)
				return
			}
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%d</title>", i)
		if i < n-1 {
			fmt.Fprintf(w, "<a href=/%d>next</a>", i+1)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// crawled continues the crawl in dir until so many pages are fetched.
func crawled(t *testing.T, dir, seed, prefix string, most int) crawler.Result {
	t.Helper()
	u := weburl.MustParse(seed)
	return crawltest.Run(t, t.Context(), dir, crawler.Options{
		Seed: u, Rules: rules.Options{Agents: []string{"curtsy"}}, Traps: judge.DefaultTraps(),
		Fetch: fetch.Options{AllowHost: u.Hostname()}, Limits: crawler.Limits{Pages: most},
		Archive: storage.Options{Prefix: prefix, SegmentSize: 4 << 10},
	}, time.Minute)
}

// An archive passes from owner to owner through the store; each continues where the last save
// ended, and the last owner has all of it.
func TestAnArchiveGoesFromOwnerToOwner(t *testing.T) {
	stores(t, func(t *testing.T, open func() Store) {
		seed, s := pages(t, 30), open()
		for n := 1; n <= 4; n++ {
			a, err := Claim(t.Context(), s, "site", seed, fmt.Sprint("owner ", n), Run{})
			if err != nil {
				t.Fatal(err)
			}
			dir, prefix := filepath.Join(t.TempDir(), "archive"), a.Prefix("curtsy")
			if m := a.Manifest(); m.DB != nil {
				if err := a.Restore(t.Context(), dir); err != nil {
					t.Fatal(err)
				}
				crawltest.Sound(t, dir)
			}
			crawled(t, dir, seed, prefix, 8*n-4)
			if err := a.Save(t.Context(), dir, prefix, Run{}, false); err != nil {
				t.Fatal(err)
			}
			crawled(t, dir, seed, prefix, 8*n)
			if err := a.Save(t.Context(), dir, prefix, Run{}, n%2 == 0); err != nil { // every other one dies
				t.Fatal(err)
			}
		}
		m, err := Load(t.Context(), open(), "site")
		if err != nil {
			t.Fatal(err)
		}
		if m.Epoch != 4 {
			t.Errorf("epoch %d, want 4", m.Epoch)
		}
		for _, seg := range m.Segments {
			if !seg.Sealed || len(seg.Tail) > 0 {
				t.Errorf("%s is not sealed", seg.Name)
			}
		}
		whole(t, open(), &m, seed, 30)
		wantObjects(t, s, &m)
	})
}

// whole restores an archive, verifies it, and checks that nothing is left to crawl.
func whole(t *testing.T, s Store, m *Manifest, seed string, n int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	if err := Restore(t.Context(), s, m, dir); err != nil {
		t.Fatal(err)
	}
	crawltest.Sound(t, dir)
	if r := crawled(t, dir, seed, "after", 0); r.State.Pages != n || r.Counts.Queued() != 0 {
		t.Errorf("%d pages and %d queued, want %d and none", r.State.Pages, r.Counts.Queued(), n)
	}
}

// wantObjects checks that the store holds exactly the objects that the manifest names.
func wantObjects(t *testing.T, s Store, m *Manifest) {
	t.Helper()
	want := m.keys("site")
	want["site/MANIFEST"] = true
	for key, err := range s.List(t.Context(), "site/") {
		if err != nil {
			t.Fatal(err)
		}
		if !want[key] {
			t.Errorf("%s is garbage", key)
		}
		delete(want, key)
	}
	for key := range want {
		t.Errorf("%s is missing", key)
	}
}

// An owner that was fenced off changes nothing any more, and the objects that it leaves are
// swept.
func TestAFencedOwnerSavesNothing(t *testing.T) {
	t.Parallel()
	seed, s := pages(t, 12), must(t)(newDirStore(t))
	old, err := Claim(t.Context(), s, "site", seed, "old", Run{})
	if err != nil {
		t.Fatal(err)
	}
	oldDir := filepath.Join(t.TempDir(), "old")
	crawled(t, oldDir, seed, old.Prefix("curtsy"), 4)
	if err := old.Save(t.Context(), oldDir, old.Prefix("curtsy"), Run{}, false); err != nil {
		t.Fatal(err)
	}
	fresh, err := Claim(t.Context(), s, "site", seed, "fresh", Run{})
	if err != nil {
		t.Fatal(err)
	}
	m := fresh.Manifest()
	dir := filepath.Join(t.TempDir(), "fresh")
	if err := Restore(t.Context(), s, &m, dir); err != nil {
		t.Fatal(err)
	}
	crawled(t, oldDir, seed, old.Prefix("curtsy"), 8)
	for _, last := range []bool{false, true} {
		if err := old.Save(t.Context(), oldDir, old.Prefix("curtsy"), Run{}, last); !errors.Is(err, ErrFenced) {
			t.Fatalf("got %v, want ErrFenced", err)
		}
	}
	crawled(t, dir, seed, fresh.Prefix("curtsy"), 0)
	if err := fresh.Save(t.Context(), dir, fresh.Prefix("curtsy"), Run{}, true); err != nil {
		t.Fatal(err)
	}
	if n, err := fresh.Sweep(t.Context()); err != nil || n == 0 {
		t.Errorf("swept %d, %v", n, err)
	}
	if _, err := old.Sweep(t.Context()); !errors.Is(err, ErrFenced) {
		t.Errorf("got %v, want ErrFenced", err)
	}
	m = fresh.Manifest()
	whole(t, s, &m, seed, 12)
	wantObjects(t, s, &m)
}

// Whichever call to the store fails, before or after its effect, the manifest names a whole
// archive, and the next save succeeds.
func TestASaveThatFailsAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("runs without -short")
	}
	t.Parallel()
	seed, work := pages(t, 12), filepath.Join(t.TempDir(), "archive")
	var stages []string // the same archive as it grows
	for n := 3; n <= 9; n += 3 {
		crawled(t, work, seed, "curtsy-e1", n)
		stages = append(stages, filepath.Join(t.TempDir(), "stage"))
		if err := os.CopyFS(stages[len(stages)-1], os.DirFS(work)); err != nil {
			t.Fatal(err)
		}
	}
	for _, after := range []bool{false, true} {
		for at, more := 1, true; more; at++ {
			more = saveFailing(t, seed, stages, at, after)
		}
	}
}

// saveFailing saves one stage after the other; during the second save call number at fails. It
// returns false if there are fewer calls.
func saveFailing(t *testing.T, seed string, stages []string, at int, after bool) (failed bool) {
	t.Helper()
	s := &flaky{Store: must(t)(newDirStore(t)), after: after}
	a, err := Claim(t.Context(), s, "site", seed, "owner", Run{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Save(t.Context(), stages[0], "curtsy-e1", Run{}, false); err != nil {
		t.Fatal(err)
	}
	s.left = at
	_ = a.Save(t.Context(), stages[1], "curtsy-e1", Run{}, false)
	failed = s.left <= 0
	s.left = 0
	m, err := Load(t.Context(), s, "site")
	if err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if err := Restore(t.Context(), s, &m, restored); err != nil {
		t.Fatalf("after %v, call %d: %v", after, at, err)
	}
	crawltest.Sound(t, restored)
	if err := a.Save(t.Context(), stages[2], "curtsy-e1", Run{}, true); err != nil {
		t.Fatalf("after %v, call %d: %v", after, at, err)
	}
	if _, err := a.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	m = a.Manifest()
	wantObjects(t, s, &m)
	return failed
}

// flaky fails the call number left, either before or after it takes effect.
type flaky struct {
	Store
	left  int
	after bool
}

var errFlaky = errors.New("the store is unreachable")

func (f *flaky) fails(do func() error) error {
	if f.left--; f.left != 0 {
		return do()
	}
	if f.after {
		return errors.Join(do(), errFlaky)
	}
	return errFlaky
}

func (f *flaky) Swap(ctx context.Context, key string, data []byte, tag string) (fresh string, err error) {
	err = f.fails(func() (err error) { fresh, err = f.Store.Swap(ctx, key, data, tag); return err })
	return fresh, err
}

func (f *flaky) Put(ctx context.Context, key string, body *io.SectionReader) error {
	return f.fails(func() error { return f.Store.Put(ctx, key, body) })
}

func (f *flaky) Remove(ctx context.Context, key string) error {
	return f.fails(func() error { return f.Store.Remove(ctx, key) })
}

// A damaged or foreign manifest names no path outside the prefix of the site.
func TestAManifestOfAnotherIsRefused(t *testing.T) {
	for _, m := range []Manifest{
		{Version: 3},
		{Version: 2, Deltas: []Blob{{Key: "site/db/e1-2.zst"}}},
		{Version: 2, DB: &Blob{Key: "site/db/e1-1.zst"}, Deltas: []Blob{{Key: "site/db/../MANIFEST"}}},
		{Version: 1, DB: &Blob{Key: "other/db/e1-1.zst"}},
		{Version: 1, Segments: []Segment{{Name: "../x", Sealed: true}}},
		{Version: 1, Segments: []Segment{{Name: "x", Size: 5,
			Tail: []Piece{{Key: "site/tail/x/1", Offset: 1, Size: 4}}}}},
		{Version: 1, Segments: []Segment{{Name: "x", Size: 5}}},
		{Version: 1, DB: &Blob{Key: "site/db/../../../victim"}},
		{Version: 1, DB: &Blob{Key: "site/db/"}},
		{Version: 1, DB: &Blob{Key: "site/db/.."}},
		{Version: 1, Segments: []Segment{{Name: "x", Size: 4,
			Tail: []Piece{{Key: "site/tail/x/../../../victim", Size: 4}}}}},
		{Version: 1, Segments: []Segment{{Name: "x", Sealed: true}, {Name: "x", Sealed: true}}},
		{Version: 1, Epoch: -1},
		{Version: 1, Epoch: 1<<63 - 1},
	} {
		if m.check("site") == nil {
			t.Errorf("%+v was taken", m)
		}
	}
	s := must(t)(Open(t.Context(), t.TempDir()))
	for _, key := range []string{"x/../../victim", "/victim", "..", "x//y", ""} {
		_, _, err := s.Get(t.Context(), key)
		_, _, openErr := s.Open(t.Context(), key)
		_, swapErr := s.Swap(t.Context(), key, nil, "")
		if err == nil || openErr == nil || swapErr == nil || s.Remove(t.Context(), key) == nil ||
			s.Put(t.Context(), key, section("x")) == nil {
			t.Errorf("the key %q was taken", key)
		}
	}
	for _, name := range []string{"", ".", "..", ".probe", "a/b", "a\x00"} {
		if CheckName(name) == nil {
			t.Errorf("%q may name a site", name)
		}
	}
}

func TestRestoreOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := Restore(t.Context(), nil, &Manifest{DB: &Blob{}}, dir); err == nil {
		t.Error("it was overwritten")
	}
	if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
		t.Errorf("%v was left", entries)
	}
}

// A save sends only what changed: crawl.db as a base and deltas, folded so that a manifest
// names few of them. Each save restores to a whole archive, also in a store that forbids
// deletion. Without a new commit nothing is sent, but another owner is still noticed.
func TestASaveSendsWhatChanged(t *testing.T) {
	t.Parallel()
	const saves = 24
	seed, s := pages(t, saves), &counting{Store: must(t)(newDirStore(t))}
	a, err := Claim(t.Context(), s, "site", seed, "owner", Run{})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "archive")
	most := 0
	for n := 1; n <= saves; n++ {
		crawled(t, dir, seed, a.Prefix("curtsy"), n)
		if err := a.Save(t.Context(), dir, a.Prefix("curtsy"), Run{}, false); err != nil {
			t.Fatal(err)
		}
		m := a.Manifest()
		most = max(most, len(m.Deltas))
		if n%8 == 0 {
			restored := filepath.Join(t.TempDir(), "restored")
			if err := Restore(t.Context(), s, &m, restored); err != nil {
				t.Fatal(err)
			}
			crawltest.Sound(t, restored)
		}
	}
	if most < 3 || most > 14 {
		t.Errorf("%d deltas at most", most)
	}
	had, sent := s.puts+s.swaps, s.octets
	t.Logf("%d requests and %d octets for %d saves", had, sent, saves)
	for range 3 {
		if err := a.Save(t.Context(), dir, a.Prefix("curtsy"), Run{}, false); err != nil {
			t.Fatal(err)
		}
	}
	if s.puts+s.swaps != had || s.octets != sent {
		t.Error("something was written though nothing had changed")
	}
	m := a.Manifest()
	whole(t, s, &m, seed, saves)
	if _, err := Claim(t.Context(), s, "site", seed, "another", Run{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Save(t.Context(), dir, a.Prefix("curtsy"), Run{}, false); !errors.Is(err, ErrFenced) {
		t.Errorf("got %v, want ErrFenced", err)
	}
}

// A run starts from what the store has: all its saves, including the first, send only what
// changed since, across owners, and the deltas of all owners are folded.
func TestTheFirstSaveOfARun(t *testing.T) {
	t.Parallel()
	const owners = 10
	seed, s := pages(t, 120+owners), &counting{Store: must(t)(newDirStore(t))}
	base, most := int64(0), 0
	for n := range owners {
		a, err := Claim(t.Context(), s, "site", seed, fmt.Sprint("owner ", n), Run{})
		if err != nil {
			t.Fatal(err)
		}
		dir, prefix := filepath.Join(t.TempDir(), "archive"), a.Prefix("curtsy")
		if n > 0 {
			if err := a.Restore(t.Context(), dir); err != nil {
				t.Fatal(err)
			}
			crawltest.Sound(t, dir)
			had := s.puts
			if err := a.Save(t.Context(), dir, prefix, Run{}, false); err != nil || s.puts != had {
				t.Errorf("owner %d: %d objects sent though nothing had changed, %v", n, s.puts-had, err)
			}
		}
		had := s.db
		crawled(t, dir, seed, prefix, 120+n)
		if err := a.Save(t.Context(), dir, prefix, Run{}, true); err != nil {
			t.Fatal(err)
		}
		m := a.Manifest()
		switch most = max(most, len(m.Deltas)); {
		case n == 0:
			base = s.db
		case len(m.Deltas) > 0 && m.Deltas[len(m.Deltas)-1].Saves < 2 && s.db-had > base/2:
			t.Errorf("owner %d sent %d octets of crawl.db for one page, all of it is %d", n, s.db-had, base)
		}
	}
	m, err := Load(t.Context(), s, "site")
	if err != nil {
		t.Fatal(err)
	}
	if whole(t, s, &m, seed, 120+owners); most == 0 {
		t.Error("no deltas")
	}
	t.Logf("%d octets of crawl.db, then %d of %d runs, %d deltas at most", base, s.db-base, owners-1, most)
}

// counting counts requests and bytes sent, and forbids deletion unless removable is set.
type counting struct {
	Store
	removable                  bool
	puts, swaps, gets, removes int
	octets, db                 int64
}

func (c *counting) Put(ctx context.Context, key string, body *io.SectionReader) error {
	c.puts++
	c.octets += body.Size()
	if strings.Contains(key, "/db/") {
		c.db += body.Size()
	}
	return c.Store.Put(ctx, key, body)
}

func (c *counting) Swap(ctx context.Context, key string, data []byte, tag string) (string, error) {
	c.swaps++
	return c.Store.Swap(ctx, key, data, tag)
}

func (c *counting) Get(ctx context.Context, key string) ([]byte, string, error) {
	c.gets++
	return c.Store.Get(ctx, key)
}

func (c *counting) Remove(ctx context.Context, key string) error {
	if c.removes++; c.removable {
		return c.Store.Remove(ctx, key)
	}
	return errors.New("access denied")
}

func TestFold(t *testing.T) {
	var saves []int
	sent := 0
	for range 1440 {
		replaced, weight := fold(saves)
		saves = append(saves[:len(saves)-replaced], weight)
		sent += weight
	}
	total := 0
	for _, n := range saves {
		total += n
	}
	if total != 1440 || len(saves) > 28 || sent > 1440*5 {
		t.Errorf("%d parts of %d saves, %d sent", len(saves), total, sent)
	}
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte{0, 1, 2}, int64(4096))
	f.Add(append([]byte{1}, make([]byte, pageSize)...), int64(8192))
	f.Fuzz(func(t *testing.T, delta []byte, size int64) {
		db, err := os.CreateTemp(t.TempDir(), "db")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		size = min(max(size, 0), 1<<20)
		if err := apply(db, bytes.NewReader(delta), size, func(uint64) {}); err == nil {
			if st, err := db.Stat(); err != nil || st.Size() != size {
				t.Errorf("%d octets, want %d (%v)", st.Size(), size, err)
			}
		}
	})
}

// BenchmarkADayOfSaves measures what a site sends to the store in a day with a save each
// minute, at a page a second, and what it requests in a day without a page.
func BenchmarkADayOfSaves(b *testing.B) {
	const saves, each = 1440, 60
	n := 0
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title>%s", r.URL.Path, strings.Repeat("<p>Some words of a page.", 40))
		for i := range 20 {
			fmt.Fprintf(w, "<a href=/%d>next</a>", n+i+1)
		}
		n++
	}))
	defer site.Close()
	u := weburl.MustParse(site.URL + "/")
	for b.Loop() {
		dirs, err := newDir(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		s := &counting{Store: dirs, removable: true}
		a, err := Claim(b.Context(), s, "site", u.String(), "owner", Run{})
		if err != nil {
			b.Fatal(err)
		}
		dir := filepath.Join(b.TempDir(), "archive")
		n = 0
		for i := range saves {
			c, err := crawler.Open(dir, crawler.Options{Seed: u, Rules: rules.Options{Agents: []string{"curtsy"}},
				Hooks: crawler.Hooks{CommitEvery: 5 * time.Second},
				Fetch: fetch.Options{AllowHost: u.Hostname()}, Limits: crawler.Limits{Pages: (i + 1) * each},
				Archive: storage.Options{Prefix: a.Prefix("curtsy")}})
			if err != nil {
				b.Fatal(err)
			}
			_, err = c.Run(b.Context(), b.Context())
			if err = errors.Join(err, c.Close()); err != nil {
				b.Fatal(err)
			}
			if err := a.Save(b.Context(), dir, a.Prefix("curtsy"), Run{}, false); err != nil {
				b.Fatal(err)
			}
		}
		m := a.Manifest()
		db, err := os.Stat(filepath.Join(dir, "crawl.db"))
		if err != nil {
			b.Fatal(err)
		}
		segments := int64(0)
		for _, seg := range m.Segments {
			segments += seg.Size
		}
		b.ReportMetric(float64(s.octets)/1e6, "MB-sent")
		b.ReportMetric(float64(s.db)/1e6, "MB-sent-of-crawl.db")
		b.ReportMetric(float64(db.Size())/1e6, "MB-crawl.db")
		b.ReportMetric(float64(segments)/1e6, "MB-segments")
		b.ReportMetric(float64(s.puts+s.swaps)/saves, "writes/save")
		b.ReportMetric(float64(s.removes)/saves, "removals/save")
		had := s.puts + s.swaps
		s.gets = 0
		for range saves {
			if err := a.Save(b.Context(), dir, a.Prefix("curtsy"), Run{}, false); err != nil {
				b.Fatal(err)
			}
		}
		if s.puts+s.swaps != had {
			b.Error("something was written though nothing had changed")
		}
		b.ReportMetric(float64(s.gets), "reads/idle-day")
	}
}
