package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"curtsy/crawler"
	"curtsy/crawler/fetch"
	"curtsy/fleet/engine"
	"curtsy/fleet/store"
	"curtsy/frontier/judge"
	"curtsy/internal/testkit/crawltest"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
)

// site is a site whose pages each link to the next; it counts its requests, and the most at a
// time.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
	hold  chan struct{} // if not nil, the second page waits for it
}

func newSite(t *testing.T, pages int) *site {
	s := &site{asked: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path]++
		hold := s.hold
		s.mu.Unlock()
		n := 0
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); r.URL.Path != "/" && err != nil {
			http.NotFound(w, r)
			return
		}
		if hold != nil && n == 2 {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Content-Type", "text/html")
		if fmt.Fprintf(w, "<title>%d</title>", n); n < pages-1 {
			fmt.Fprintf(w, "<a href=/%d>next</a>", n+1)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) name() string { return Name(strings.TrimPrefix(s.URL, "http://")) }

// testFleet is an engine, a store and workers in one process.
type testFleet struct {
	t      *testing.T
	engine *engine.Server
	store  store.Store
	conn   *nats.Conn
}

func newFleet(t *testing.T) *testFleet {
	t.Helper()
	e, err := engine.Start(engine.Options{Dir: t.TempDir(), Name: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	s, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &testFleet{t, e, s, c}
}

// worker runs a worker until the test ends or it is stopped.
func (f *testFleet) worker(name string, change func(*Options)) (w *Worker, stop func()) {
	return f.mortal(context.Background(), name, change)
}

// mortal runs a worker that is killed when ctx ends.
func (f *testFleet) mortal(ctx context.Context, name string, change func(*Options)) (w *Worker, stop func()) {
	o := Options{Name: name, Dir: f.t.TempDir(), Store: f.store, Connect: f.engine.Connect, Nodes: 1, Slots: 4,
		Alone: true, Save: 100 * time.Millisecond, Tick: 20 * time.Millisecond, Crawl: testOptions}
	if change != nil {
		change(&o)
	}
	w = NewWorker(o)
	stopping, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.Run(ctx, stopping); err != nil {
			f.t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	f.t.Cleanup(stop)
	f.until(name+" is there", func() bool {
		a, err := Request(f.conn, Ask{Do: "status"})
		return err == nil && strings.Contains(fmt.Sprint(a.Worker), name)
	})
	return w, stop
}

func testOptions(s Site) (crawler.Options, error) {
	u, err := weburl.Parse(s.Seed)
	return crawler.Options{Seed: u, Rules: rules.Options{Agents: []string{"curtsy"}}, Traps: judge.DefaultTraps(),
		Fetch: fetch.Options{AllowHost: u.Hostname()}}, err
}

func (f *testFleet) until(what string, is func() bool) {
	f.t.Helper()
	end, limited := f.t.Deadline()
	for !limited || time.Until(end) > 10*time.Second {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	f.t.Fatalf("it does not come that %s", what)
}

func (f *testFleet) ask(q Ask) Answer {
	f.t.Helper()
	a, err := Request(f.conn, q)
	if err != nil {
		f.t.Fatalf("%+v: %v", q, err)
	}
	return a
}

func (f *testFleet) add(s *site, change func(*Site)) {
	f.t.Helper()
	one := NewSite(weburl.MustParse(s.URL + "/"))
	if change != nil {
		change(&one)
	}
	f.ask(Ask{Do: "add", Sites: []Site{one}})
}

func (f *testFleet) state(name string) string {
	for _, s := range f.ask(Ask{Do: "status"}).Sites {
		if s.Name == name {
			return s.State
		}
	}
	return ""
}

func (f *testFleet) why(name string) string { return f.ask(Ask{Do: "why", Names: []string{name}}).Text }

func (f *testFleet) isState(s *site, state string) {
	f.t.Helper()
	f.until(s.name()+" is "+state, func() bool { return f.state(s.name()) == state })
}

// sound pulls an archive and checks that it has all pages.
func (f *testFleet) sound(s *site, pages int) {
	f.t.Helper()
	m, err := store.Load(f.t.Context(), f.store, s.name())
	if err != nil {
		f.t.Fatal(err)
	}
	dir := filepath.Join(f.t.TempDir(), "pulled")
	if err := store.Restore(f.t.Context(), f.store, &m, dir); err != nil {
		f.t.Fatal(err)
	}
	crawltest.Sound(f.t, dir)
	if m.Run.Fetched != pages+1 {
		f.t.Errorf("%d fetched, want %d and robots.txt (%+v)", m.Run.Fetched, pages, m.Run)
	}
}

// Sites at one IP address are crawled one after another, and why says so.
func TestSitesAtOneAddressTakeTurns(t *testing.T) {
	long(t)
	t.Parallel()
	f := newFleet(t)
	f.worker("w1", nil)
	first, second := newSite(t, 5), newSite(t, 5)
	first.hold = make(chan struct{})
	f.add(first, nil)
	f.isState(first, "running")
	f.add(second, nil)
	f.isState(second, "waiting")
	want := fmt.Sprintf("%s: waiting for the address 127.0.0.1, shared with 1 other site; %s is being crawled there, by w1", second.name(), first.name())
	if got := f.why(second.name()); got != want {
		t.Errorf("why says %q, want %q", got, want)
	}
	if got := f.why(first.name()); !strings.Contains(got, "being crawled by w1") {
		t.Errorf("why says %q", got)
	}
	if len(second.asked) != 0 {
		t.Errorf("it was asked meanwhile: %v", second.asked)
	}
	close(first.hold)
	f.isState(first, "done")
	f.isState(second, "done")
	f.sound(first, 5)
	f.sound(second, 5)
}

// A site that is paused in the middle of a run is left alone; another worker then continues
// where it was, from the store.
func TestASiteContinuesElsewhere(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	_, stop := f.worker("w1", nil)
	s := newSite(t, 6)
	s.hold = make(chan struct{})
	f.add(s, nil)
	f.until("the site is asked", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.asked["/2"] == 1 })
	f.ask(Ask{Do: "pause", Names: []string{s.name()}})
	s.mu.Lock()
	close(s.hold)
	s.hold = nil
	s.mu.Unlock()
	f.isState(s, "paused")
	if got := f.why(s.name()); !strings.Contains(got, "paused; curtsy fleet go") {
		t.Errorf("why says %q", got)
	}
	stop()
	f.worker("w2", nil)
	f.ask(Ask{Do: "go", Names: []string{s.name()}})
	f.isState(s, "done")
	f.sound(s, 6)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, target := range []string{"/", "/1", "/2", "/3", "/4", "/5"} {
		if s.asked[target] != 1 {
			t.Errorf("%s was asked %d times", target, s.asked[target])
		}
	}
}

// A worker that is drained finishes the requests in flight and starts no others; another worker
// continues. A site that is removed is off the list, and its archive stays in the store.
func TestDrainAndRemove(t *testing.T) {
	long(t)
	t.Parallel()
	f := newFleet(t)
	several := func(o *Options) { o.Alone, o.Term = false, 2*time.Second }
	w1, _ := f.worker("w1", several)
	s := newSite(t, 6)
	s.hold = make(chan struct{})
	f.add(s, nil)
	f.until("the site is asked", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.asked["/2"] == 1 })
	f.ask(Ask{Do: "drain", Worker: "w1"})
	s.mu.Lock()
	close(s.hold)
	s.hold = nil
	s.mu.Unlock()
	f.until("w1 has nothing to do", func() bool { return w1.Gauges().Running == 0 })
	f.until("why names the worker that is drained",
		func() bool { return strings.Contains(f.why(s.name()), "waiting for a worker (w1: drained)") })
	f.worker("w2", several)
	f.isState(s, "done")
	f.sound(s, 6)
	for target, n := range s.asked {
		if n != 1 && target != "/robots.txt" {
			t.Errorf("%s was asked %d times", target, n)
		}
	}
	f.ask(Ask{Do: "remove", Names: []string{s.name()}})
	f.until("it is off the list", func() bool {
		return !strings.Contains(fmt.Sprintf("%+v",
			f.ask(Ask{Do: "status"}).Sites), s.name())
	})
	f.sound(s, 6)
}

// Everything that the engine knows can be rebuilt from the store.
func TestTheEngineMayBeLost(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	_, stop := f.worker("w1", nil)
	s, never := newSite(t, 3), newSite(t, 3)
	f.add(s, func(s *Site) { s.Every = time.Hour })
	f.add(never, func(s *Site) { s.Cron, s.Zone = "0 3 1 1 *", "Europe/Berlin" })
	f.isState(s, "scheduled")
	before := f.why(s.name())
	stop()
	other := newFleet(t)
	other.store = f.store
	other.worker("w2", nil)
	other.isState(s, "scheduled")
	other.isState(never, "scheduled")
	if got := other.why(s.name()); got != before || !strings.Contains(got, "(every 1h)") {
		t.Errorf("why says %q, and said %q", got, before)
	}
	if got := other.why(never.name()); !strings.Contains(got, "-01-01 03:00:00 CET") {
		t.Errorf("why says %q", got)
	}
}

// A command finds a site of the store's list before the board of a new engine has it.
func TestASiteThatTheBoardDoesNotHaveYet(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	w, _ := f.worker("w1", func(o *Options) { o.Slots = 0 })
	s := newSite(t, 3)
	lost := func() {
		f.until("the list was read", func() bool { return !w.filling() })
		if err := w.book.drop(t.Context(), s.name()); err != nil {
			t.Fatal(err)
		}
		f.until("it is gone", func() bool { _, err := w.book.record(s.name()); return err != nil })
	}
	f.add(s, nil)
	lost()
	if got := f.why(s.name()); !strings.Contains(got, "due") {
		t.Errorf("why says %q", got)
	}
	lost()
	if got := f.ask(Ask{Do: "site", Names: []string{s.name()}}).Site; got == nil || got.Seed != s.URL+"/" {
		t.Errorf("the site is %+v", got)
	}
	lost()
	f.ask(Ask{Do: "remove", Names: []string{s.name()}})
	f.until("it is gone", func() bool { return f.state(s.name()) == "" })
	if _, err := Request(f.conn, Ask{Do: "remove", Names: []string{s.name()}}); err == nil ||
		!strings.Contains(err.Error(), "no such site") {
		t.Errorf("got %v", err)
	}
	// A site that is removed while the list is read does not come back.
	f.add(s, nil)
	lost()
	w.book.store = &removing{f.store}
	if err := w.book.recall(t.Context(), s.name()); err != nil {
		t.Error(err)
	}
	f.until("it is gone", func() bool { return f.state(s.name()) == "" })
}

// An unusable manifest is reported for its site, which is left alone for a while; other sites
// are crawled, and a rebuilt board has all of them, whatever else the list contains.
func TestADamagedManifest(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.worker("w1", nil)
	bad, good := newSite(t, 3), newSite(t, 3)
	hostile := fmt.Sprintf(`{"version":1,"seed":%q,"epoch":3,"db":{"key":"%s/db/../../../victim","size":1}}`,
		bad.URL+"/", bad.name())
	if _, err := f.store.Swap(t.Context(), bad.name()+"/MANIFEST", []byte(hostile), ""); err != nil {
		t.Fatal(err)
	}
	f.add(bad, nil)
	f.add(good, nil)
	f.isState(good, "done")
	f.isState(bad, "failed")
	if got := f.why(bad.name()); !strings.Contains(got, "its manifest is damaged: crawl.db is not where it should be") {
		t.Errorf("why says %q", got)
	}
	if _, err := f.store.Swap(t.Context(), listed+"torn.example", []byte("{"), ""); err != nil {
		t.Fatal(err)
	}
	other := newFleet(t)
	other.store = f.store
	w, _ := other.worker("w2", nil)
	other.isState(bad, "failed")
	other.isState(good, "done")
	other.until("the list was read", func() bool { return !w.filling() })
	bad.mu.Lock()
	defer bad.mu.Unlock()
	if len(bad.asked) > 0 {
		t.Errorf("it was asked for %v", bad.asked)
	}
}

// removing is a store whose list loses each site once it has been read.
type removing struct{ store.Store }

func (r *removing) Get(ctx context.Context, key string) ([]byte, string, error) {
	data, tag, err := r.Store.Get(ctx, key)
	if strings.HasPrefix(key, listed) && err == nil {
		err = r.Store.Remove(ctx, key)
	}
	return data, tag, err
}

// A month of schedules takes only as long as its crawls, since the clock is a parameter.
func TestSchedules(t *testing.T) {
	long(t)
	t.Parallel()
	f := newFleet(t)
	var mu sync.Mutex
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.worker("w1", func(o *Options) {
		o.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	})
	s := newSite(t, 2)
	f.add(s, func(s *Site) { s.Every = 7 * 24 * time.Hour })
	for week := 1; week <= 5; week++ {
		f.until("a round is made", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.asked["/1"] == week
		})
		f.isState(s, "scheduled")
		mu.Lock()
		now = now.Add(7*24*time.Hour + time.Minute)
		mu.Unlock()
	}
	f.isState(s, "scheduled")
	f.sound(s, 2)
}

// A site is not crawled again if the board was not told that its run ended, or if a worker
// starts it from an old list: the store says that the run has ended.
func TestNothingIsCrawledTwice(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	w, _ := f.worker("w1", nil)
	s := newSite(t, 3)
	f.add(s, nil)
	f.isState(s, "done")
	for name, was := range map[string]func(*Record){
		"the end was not reported": func(r *Record) { r.Run.Ended, r.Run.Ending = time.Time{}, "" },
		"the list is old":          func(r *Record) { r.Run = store.Run{} },
	} {
		if err := w.book.change(t.Context(), s.name(), was); err != nil {
			t.Fatal(err)
		}
		f.isState(s, "done")
		r, err := w.book.record(s.name())
		if err != nil || r.Run.Fetched != 4 || r.Epoch != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for target, n := range s.asked {
		if n != 1 {
			t.Errorf("%s was asked %d times", target, n)
		}
	}
}

// A worker that dies between the last page and the last save continues from its disk: it saves,
// and visits nothing again.
func TestARunThatWasNotSavedAtItsEnd(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	flaky := &unwritable{Store: f.store}
	f.store = flaky
	dir := f.t.TempDir()
	here := func(o *Options) { o.Dir, o.Save = dir, time.Hour }
	ctx, kill := context.WithCancel(t.Context())
	w1, stop := f.mortal(ctx, "w1", here)
	s := newSite(t, 3)
	s.hold = make(chan struct{})
	f.add(s, nil)
	f.until("the site is asked", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.asked["/2"] == 1 })
	flaky.off.Store(true)
	close(s.hold)
	f.until("the last save fails", func() bool { return w1.NotReady() != "" })
	if got := w1.NotReady(); !strings.Contains(got, "the store cannot be written") {
		t.Errorf("readyz says %q", got)
	}
	kill()
	stop()
	flaky.off.Store(false)
	f.worker("w1", here)
	f.isState(s, "done")
	f.sound(s, 3)
	for target, n := range s.asked {
		if n != 1 {
			t.Errorf("%s was asked %d times", target, n)
		}
	}
}

// A worker that dies while removing a saved archive from its disk leaves only a part of it.
// This must not be taken for the archive and saved over the good copy.
func TestAnArchiveThatWasHalfRemoved(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	dir := f.t.TempDir()
	here := func(o *Options) { o.Dir = dir }
	w, stop := f.worker("w1", here)
	s := newSite(t, 3)
	f.add(s, nil)
	f.isState(s, "done")
	stop()
	m, err := store.Load(t.Context(), f.store, s.name())
	if err != nil {
		t.Fatal(err)
	}
	work := w.work(s.name())
	if err := writeOwned(work, owned{Epoch: m.Epoch}); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{work + "/warc", w.work(".snapshot-1"), w.work("other") + "/warc"} {
		if err := os.MkdirAll(left, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.worker("w2", func(o *Options) {
		here(o)
		o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	})
	f.add(s, func(one *Site) { one.Every = time.Hour })
	var again store.Manifest
	f.until("the site is visited again", func() bool {
		again, err = store.Load(t.Context(), f.store, s.name())
		return err == nil && again.Epoch > m.Epoch && !again.Run.Ended.IsZero()
	})
	if !again.Run.Round || len(again.Segments) <= len(m.Segments) || again.Segments[0].Name != m.Segments[0].Name {
		t.Errorf("the archive is not the one that was saved: %+v, with %+v", again.Run, again.Segments)
	}
	f.sound(s, 3)
	if entries, err := os.ReadDir(w.work("")); err != nil || len(entries) > 0 {
		t.Errorf("left on the disk: %v, %v", entries, err)
	}
}

// unwritable is a store whose writes can be made to fail.
type unwritable struct {
	store.Store
	off atomic.Bool
}

var errReadOnly = errors.New("read-only file system")

func (u *unwritable) Swap(ctx context.Context, key string, data []byte, tag string) (string, error) {
	if u.off.Load() {
		return "", errReadOnly
	}
	return u.Store.Swap(ctx, key, data, tag)
}

func (u *unwritable) Put(ctx context.Context, key string, body *io.SectionReader) error {
	if u.off.Load() {
		return errReadOnly
	}
	return u.Store.Put(ctx, key, body)
}

// If the list in the store is suddenly empty, or the store has lost its marker, no site is
// removed from the fleet.
func TestAStoreThatIsEmptyByMistake(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	w, _ := f.worker("w1", func(o *Options) { o.Slots = 0 })
	var sites []Site
	for i := range 30 {
		sites = append(sites, NewSite(weburl.MustParse(fmt.Sprintf("http://s%d.example/", i))))
	}
	f.ask(Ask{Do: "add", Sites: sites})
	lose := func(names ...Site) {
		for _, s := range names {
			if err := f.store.Remove(t.Context(), listed+s.Name); err != nil {
				t.Fatal(err)
			}
		}
	}
	lose(sites[:2]...) // as by hand
	if err := w.book.reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.until("two are gone", func() bool { return f.ask(Ask{Do: "status"}).Total == 28 })
	var shrunk *ShrunkError
	lose(sites[2:20]...)
	if err := w.book.reconcile(t.Context()); !errors.As(err, &shrunk) || shrunk.Left != 10 {
		t.Errorf("got %v", err)
	}
	lose(sites...)
	if err := w.book.reconcile(t.Context()); !errors.As(err, &shrunk) || shrunk.Left != 0 {
		t.Errorf("got %v", err)
	}
	if err := f.store.Remove(t.Context(), ".fleet"); err != nil {
		t.Fatal(err)
	}
	if err := w.same(t.Context()); !errors.Is(err, store.ErrUnmarked) {
		t.Errorf("got %v", err)
	}
	if err := w.book.reconcile(t.Context()); !errors.Is(err, store.ErrUnmarked) {
		t.Errorf("got %v", err)
	}
	if got := f.ask(Ask{Do: "status"}).Total; got != 28 {
		t.Errorf("%d sites are left, want 28", got)
	}
}

// A run whose site was claimed by another worker is dropped, not saved.
func TestARunThatIsFencedIsDropped(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	w, _ := f.worker("w1", nil)
	if g := w.Gauges(); g.Margin <= 0 || g.Running != 0 {
		t.Errorf("gauges before: %+v", g)
	}
	s := newSite(t, 4)
	s.hold = make(chan struct{})
	f.add(s, nil)
	f.until("the site is asked", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.asked["/2"] == 1 })
	if _, err := store.Claim(t.Context(), f.store, s.name(), s.URL+"/", "another", store.Run{}); err != nil {
		t.Fatal(err)
	}
	f.until("the run is dropped, and begun anew", func() bool {
		m, err := store.Load(t.Context(), f.store, s.name())
		return err == nil && m.Epoch > 2 && m.Owner == "w1"
	})
	s.mu.Lock()
	close(s.hold)
	s.hold = nil
	s.mu.Unlock()
	f.isState(s, "done")
	f.sound(s, 4)
	if g := w.Gauges(); g.Fenced != 1 || g.Sites["done"] != 1 {
		t.Errorf("gauges after: %+v", g)
	}
	if entries, err := os.ReadDir(filepath.Dir(w.work("x"))); err != nil || len(entries) > 0 {
		t.Errorf("left on the disk: %v, %v", entries, err)
	}
}

func TestSitesAreChecked(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.worker("w1", nil)
	for _, s := range []Site{
		{Name: "../x", Seed: "http://x/"},
		{Name: "x", Seed: "nothing"},
		{Name: "x", Seed: "http://x/", Every: time.Second},
		{Name: "x", Seed: "http://x/", Cron: "at noon"},
		{Name: "x", Seed: "http://x/", Cron: "0 3 * * *", Zone: "Nowhere/City"},
		{Name: "x", Seed: "http://x/", Cron: "0 3 * * *", Every: time.Hour},
	} {
		if _, err := Request(f.conn, Ask{Do: "add", Sites: []Site{s}}); err == nil {
			t.Errorf("%+v was added", s)
		}
	}
	if _, err := Request(f.conn, Ask{Do: "why", Names: []string{"unknown"}}); err == nil ||
		!strings.Contains(err.Error(), "no such site") {
		t.Errorf("got %v", err)
	}
	for host, want := range map[string]string{"http://www.example.co.uk/": "example.co.uk",
		"http://127.0.0.1:8080/": "127.0.0.1_8080",
		"http://[::1]:80/x":      "__1", "http://localhost:1/": "localhost_1"} {
		if s := NewSite(weburl.MustParse(host)); s.Group != want {
			t.Errorf("%s is of the group %q, want %q", host, s.Group, want)
		}
	}
}

// Sites are added concurrently, and listed page by page, each once; the first page has the
// totals.
func TestPagesOfStatus(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	w, _ := f.worker("w1", func(o *Options) { o.Slots = 0 })
	var sites []Site
	for i := range 7 {
		sites = append(sites, NewSite(weburl.MustParse(fmt.Sprintf("http://s%d.example/", i))))
	}
	if a := f.ask(Ask{Do: "add", Sites: sites}); a.Added != 7 {
		t.Errorf("%d added", a.Added)
	}
	f.ask(Ask{Do: "pause", Names: []string{sites[2].Name, sites[5].Name}})
	for state, want := range map[string]string{"": "0123456", "paused": "25", "due": "01346", "done": ""} {
		got, after, more := "", "", true
		for pages := 0; more && pages < 9; pages++ {
			a := w.status(&Ask{State: state, After: after}, 2)
			if first := pages == 0; first && (a.Total != 7 || a.States["paused"] != 2 || a.States["due"] != 5) ||
				!first && a.States != nil {
				t.Errorf("%q, page %d: %d in all, %v", state, pages, a.Total, a.States)
			}
			for _, s := range a.Sites {
				got += s.Name[1:2]
				after = s.Name
			}
			more = a.More
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", state, got, want)
		}
	}
}

// Adding a site again keeps the settings that are not given; status has live counts, and a
// removed site has stopped once stopped no longer lists it.
func TestAddingAgainAndLiveCounts(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.worker("w1", func(o *Options) { o.Save = time.Hour })
	s := newSite(t, 5)
	s.hold = make(chan struct{})
	f.add(s, func(s *Site) { s.Contact, s.Config = "a@b.example", []byte("delay: 1s\n") })
	f.until("counts are live", func() bool {
		a := f.ask(Ask{Do: "status", Worker: "w1"})
		return len(a.Sites) == 1 && a.Sites[0].Fetched >= 2 && a.Pages >= 2
	})
	if a := f.ask(Ask{Do: "status", Worker: "w2"}); len(a.Sites) != 0 || a.Pages < 2 ||
		a.Bytes == 0 { // the totals are over all sites
		t.Errorf("w2 crawls %+v; %d pages, %d bytes in all", a.Sites, a.Pages, a.Bytes)
	}
	again := NewSite(weburl.MustParse(s.URL + "/"))
	again.Every = 7 * 24 * time.Hour
	f.ask(Ask{Do: "add", Sites: []Site{again}, Given: []string{"every"}})
	got := f.ask(Ask{Do: "site", Names: []string{s.name()}}).Site
	if got == nil || got.Every != again.Every || got.Contact != "a@b.example" || string(got.Config) != "delay: 1s\n" {
		t.Errorf("got %+v", got)
	}
	f.ask(Ask{Do: "remove", Names: []string{s.name()}})
	if a := f.ask(Ask{Do: "stopped", Names: []string{s.name()}}); len(a.Sites) != 1 || a.Sites[0].Worker != "w1" {
		t.Errorf("its crawl has stopped already: %+v", a.Sites)
	}
	s.mu.Lock()
	close(s.hold)
	s.hold = nil
	s.mu.Unlock()
	f.until("it has stopped", func() bool {
		return len(f.ask(Ask{Do: "stopped",
			Names: []string{s.name()}}).Sites) == 0
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked["/4"] != 0 {
		t.Error("it was crawled to its end")
	}
}

// A configuration that the worker refuses, such as one written to the store by other means,
// fails the run before any request, and why says so.
func TestAConfigurationThatIsRefusedByTheWorker(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.worker("w1", func(o *Options) {
		o.Crawl = func(Site) (crawler.Options, error) {
			return crawler.Options{}, errors.New("line 2: render.browser cannot be set")
		}
	})
	s := newSite(t, 3)
	f.add(s, nil)
	f.isState(s, "failed")
	if got := f.why(s.name()); !strings.Contains(got, "line 2: render.browser") || !strings.Contains(got, "number 2") {
		t.Errorf("why says %q", got)
	}
	if m, err := store.Load(t.Context(), f.store, s.name()); err != nil || m.Run.Fails != 1 ||
		m.Run.Ending != "failed" {
		t.Errorf("the store says %+v, %v", m.Run, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) != 0 {
		t.Errorf("it was asked: %v", s.asked)
	}
}

// long skips a test with -short.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs without -short")
	}
}
