package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

func started(t *testing.T) *Server {
	t.Helper()
	s, err := Start(Options{Dir: t.TempDir(), Name: "n1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func opened(t *testing.T, ctx context.Context, s *Server, o BoardOptions) *Board {
	t.Helper()
	n, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	o.Nodes = 1
	if o.Clock == nil {
		o.Clock = func() time.Duration { return 0 }
	}
	b, err := OpenBoard(ctx, n, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("not in time: %s", what)
}

// The context for opening a board may end before the board is closed: later changes by others
// are still seen.
func TestABoardFollowsLongerThanItWasOpened(t *testing.T) {
	s := started(t)
	ctx, cancel := context.WithCancel(t.Context())
	one, two := opened(t, ctx, s, BoardOptions{}), opened(t, t.Context(), s, BoardOptions{})
	cancel()
	time.Sleep(20 * time.Millisecond) // time for the cancellation to take effect
	e, err := two.Swap(t.Context(), Entry{Key: "k"}, []byte("v"))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the entry is seen", func() bool { _, ok := one.Entry("k"); return ok })
	if err := two.Remove(t.Context(), Entry{Key: "k", Rev: e.Rev + 1}); !errors.Is(err, ErrConflict) {
		t.Errorf("removed another revision: %v", err)
	}
	if err := two.Remove(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is gone", func() bool { _, ok := one.Entry("k"); return !ok })
	if _, err := one.Swap(t.Context(), Entry{Key: "k"}, []byte("again")); err != nil {
		t.Errorf("made again: %v", err)
	}
}

// A board notices that its copy is behind when one of its own writes does not come back.
func TestABoardKnowsThatItIsBehind(t *testing.T) {
	var clock atomic.Int64
	b := opened(t, t.Context(), started(t),
		BoardOptions{Clock: func() time.Duration { return time.Duration(clock.Load()) }})
	b.note("k", []byte("v"), 3, false)
	clock.Store(int64(20 * time.Second))
	if got := b.Behind(); got != 20*time.Second {
		t.Errorf("behind by %s, want 20s", got)
	}
	for range 3 {
		if _, err := b.kv.Put(t.Context(), "other", nil); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the copy has caught up", func() bool { return b.Behind() == 0 })
}

// Followed entries are delivered in order and not kept; an entry written here is delivered at
// once, and not again after a later one.
func TestFollowedEntries(t *testing.T) {
	s := started(t)
	var mu sync.Mutex
	last := uint64(0)
	b := opened(t, t.Context(), s, BoardOptions{Prefix: "site.", Follow: func(e Entry, watched bool) {
		mu.Lock()
		defer mu.Unlock()
		if e.Rev < last && !watched {
			t.Errorf("revision %d was given after %d", e.Rev, last)
		}
		last = max(last, e.Rev)
	}})
	e, err := b.Swap(t.Context(), Entry{Key: "site.a"}, []byte("1"))
	if err != nil || last != e.Rev {
		t.Errorf("%v; followed to %d, want %d", err, last, e.Rev)
	}
	if len(b.List("")) != 0 {
		t.Error("it is kept")
	}
	if got := b.note("site.a", []byte("0"), e.Rev-1, false); got.Rev >= e.Rev {
		t.Errorf("got %+v", got)
	}
}

// The error that says that a condition does not hold is recognized for both kinds of server,
// and no other error is.
func TestARefusedCondition(t *testing.T) {
	for err, want := range map[error]bool{
		jetstream.ErrKeyExists: true,
		&jetstream.APIError{Code: 400, ErrorCode: wrongSequenceOfReplicas}:                              true,
		fmt.Errorf("x: %w", &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence}): true,
		&jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamNotFound}:                               false,
		context.DeadlineExceeded: false,
	} {
		if got := refused(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
