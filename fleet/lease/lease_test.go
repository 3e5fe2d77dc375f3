package lease

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"curtsy/fleet/engine"
)

// clock is a clock that a test sets.
type clock struct{ now atomic.Int64 }

func (c *clock) read() time.Duration  { return time.Duration(c.now.Load()) }
func (c *clock) pass(d time.Duration) { c.now.Add(int64(d)) }

func begin(t *testing.T, s *engine.Server, c *clock, worker string, alone bool) *Session {
	t.Helper()
	n, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	b, err := engine.OpenBoard(t.Context(), n, engine.BoardOptions{Nodes: 1, Clock: c.read})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	l, err := Begin(t.Context(), b, Options{Worker: worker, Clock: c.read, Alone: alone})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func start(t *testing.T) *engine.Server {
	t.Helper()
	s, err := engine.Start(engine.Options{Dir: t.TempDir(), Name: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func held(t *testing.T, err error, by string) {
	t.Helper()
	var h *HeldError
	if !errors.As(err, &h) || h.Worker != by {
		t.Errorf("got %v, want that %s holds it", err, by)
	}
}

// seen waits until a session has seen a change that another made.
func seen(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("it is not seen that %s", what)
}

func TestALeaseIsHeldByOne(t *testing.T) {
	s, one, two := start(t), &clock{}, &clock{}
	a := begin(t, s, one, "a", true)
	b := begin(t, s, two, "b", false)
	l, err := a.Acquire(t.Context(), "example.org", "site")
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Acquire(t.Context(), "example.org", "another")
	held(t, err, "a")
	seen(t, "a holds it", func() bool { _, ok := b.Claim("example.org"); return ok })
	_, err = b.Acquire(t.Context(), "example.org", "site")
	held(t, err, "a")
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l.Check() == nil {
		t.Error("a lease that was released is held")
	}
	seen(t, "it is free", func() bool { _, ok := b.Claim("example.org"); return !ok })
	if _, err := b.Acquire(t.Context(), "example.org", "site"); err != nil {
		t.Error(err)
	}
}

// A worker that is suspended has lost its lease by its own clock before another can take it,
// and cannot renew it afterwards.
func TestALeaseEndsForItsOwnerFirst(t *testing.T) {
	s, one, two := start(t), &clock{}, &clock{}
	a := begin(t, s, one, "a", true)
	b := begin(t, s, two, "b", false)
	l, err := a.Acquire(t.Context(), "k", "site")
	if err != nil {
		t.Fatal(err)
	}
	seen(t, "a holds it", func() bool { _, ok := b.Claim("k"); return ok })
	one.pass(24 * time.Second)
	two.pass(24 * time.Second)
	b.renew()
	if err := l.Check(); err != nil {
		t.Errorf("after 24 s: %v", err)
	}
	one.pass(2 * time.Second)
	two.pass(2 * time.Second)
	if err := l.Check(); !errors.Is(err, ErrOver) {
		t.Errorf("after 26 s of 30, less the margin: %v, want ErrOver", err)
	}
	_, err = b.Acquire(t.Context(), "k", "site")
	held(t, err, "a")
	two.pass(5 * time.Second)
	if _, err = b.Acquire(t.Context(), "k", "site"); err != nil {
		t.Fatalf("after 31 s: %v", err)
	}
	a.renew()
	if a.Check() == nil {
		t.Error("a session that another has ended was renewed")
	}
}

// A worker whose copy of the board stood still takes nothing from a session that was renewed.
func TestASessionThatIsRenewedIsNotTaken(t *testing.T) {
	s, one, two := start(t), &clock{}, &clock{}
	a := begin(t, s, one, "a", true)
	b := begin(t, s, two, "b", false)
	if _, err := a.Acquire(t.Context(), "k", "site"); err != nil {
		t.Fatal(err)
	}
	seen(t, "a holds it", func() bool { _, ok := b.Claim("k"); return ok })
	b.board.Close() // gets no more updates
	<-b.board.Done()
	one.pass(20 * time.Second)
	a.renew()
	two.pass(40 * time.Second)
	b.mu.Lock()
	b.deadline += time.Minute
	b.mu.Unlock()
	_, err := b.Acquire(t.Context(), "k", "site")
	held(t, err, "a")
	if err := a.Check(); err != nil {
		t.Error(err)
	}
}

// A session ends at once when its copy of the board gets no more updates or is far behind, as
// it would not see what others do.
func TestASessionEndsWithItsWatch(t *testing.T) {
	s, c := start(t), &clock{}
	a := begin(t, s, c, "a", true)
	a.board.Close()
	seen(t, "the session is over", func() bool { return a.Check() != nil })
}

// Only this worker may take at once what its previous session held; what it does not take is
// then free for all.
func TestASessionContinuesTheOneBefore(t *testing.T) {
	s, c := start(t), &clock{}
	a := begin(t, s, c, "a", true)
	for _, key := range []string{"k", "other"} {
		if _, err := a.Acquire(t.Context(), key, "site"); err != nil {
			t.Fatal(err)
		}
	}
	b, after := begin(t, s, c, "b", false), begin(t, s, c, "a", false)
	after.o.Previous = a.ID()
	_, err := b.Acquire(t.Context(), "k", "site")
	held(t, err, "a")
	if _, ok := after.Claim("k"); ok {
		t.Error("its own claim of before is another's")
	}
	if _, err := after.Acquire(t.Context(), "k", "site"); err != nil {
		t.Error(err)
	}
	if err := after.ReleaseUnclaimed(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen(t, "the rest is free", func() bool { _, ok := b.Claim("other"); return !ok })
	_, err = b.Acquire(t.Context(), "k", "site")
	held(t, err, "a")
}

// Dead sessions and claims without a holder are removed from the board.
func TestTheBoardIsTidied(t *testing.T) {
	s, c := start(t), &clock{}
	a := begin(t, s, c, "a", true)
	l, err := a.Acquire(t.Context(), "k", "site")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := begin(t, s, c, "b", false)
	b.End(t.Context())
	seen(t, "b has ended", func() bool { return a.dead(b.ID()) })
	for range 13 {
		c.pass(5 * time.Second)
		a.renew()
		a.tidy()
	}
	seen(t, "both are gone", func() bool { return len(a.board.List(claims)) == 0 && len(a.board.List(sessions)) == 1 })
	if _, err := a.Acquire(t.Context(), "k", "site"); err != nil {
		t.Error(err)
	}
}

// After the engine has lost its disks, nothing is leased for one term.
func TestAnEngineMadeAnewGivesNothingOutAtOnce(t *testing.T) {
	s, c := start(t), &clock{}
	a := begin(t, s, c, "a", false)
	if _, err := a.Acquire(t.Context(), "k", "site"); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	for range 7 {
		c.pass(5 * time.Second)
		a.renew()
		a.tidy()
	}
	if _, err := a.Acquire(t.Context(), "k", "site"); err != nil {
		t.Error(err)
	}
}

// A claim whose answer was lost is released.
func TestAClaimThatNobodyUsesIsGivenFree(t *testing.T) {
	s, c := start(t), &clock{}
	a := begin(t, s, c, "a", true)
	l, err := a.Acquire(t.Context(), "k", "site")
	if err != nil {
		t.Fatal(err)
	}
	a.mu.Lock() // the loop of the session uses it too
	delete(a.held, "k")
	a.mu.Unlock()
	a.tidy()
	if _, ok := a.Claim("k"); ok {
		t.Error("it is still claimed")
	}
	a.mu.Lock()
	a.held["k"] = l
	a.mu.Unlock()
	a.look()
	if err := l.Check(); !errors.Is(err, ErrOver) {
		t.Errorf("got %v: the board says that nobody holds it", err)
	}
}
