package fleet

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"curtsy/fleet/engine"
	"curtsy/fleet/lease"
)

// gate admits the requests of a run: only while its claims hold, and only to addresses at which
// it has a place.
type gate struct {
	session *lease.Session
	board   *engine.Board
	site    string
	places  int // per address
	group   *lease.Lease

	mu   sync.Mutex
	held map[netip.Addr]*lease.Lease
}

// maxWait is how long a request waits for a place at a further address. Then the run ends and
// releases its own places, so that two runs cannot deadlock.
const maxWait = 30 * time.Second

func groupKey(group string) string { return "group." + group }

func placeKey(addr netip.Addr, n int) string {
	return fmt.Sprintf("addr.%s.%d", plain(addr.String()), n)
}

// ask implements crawler.Options.Gate. It checks the claims last, right before the request is
// written, since the process may be suspended anywhere.
func (g *gate) ask(ctx context.Context, _ string, addr netip.Addr) error {
	if err := g.group.Check(); err != nil {
		return err
	}
	if !addr.IsValid() { // unknown behind a proxy
		return nil
	}
	l, err := g.place(ctx, addr)
	if err != nil {
		return err
	}
	return errors.Join(l.Check(), g.group.Check())
}

// place waits for a place at an address.
func (g *gate) place(ctx context.Context, addr netip.Addr) (*lease.Lease, error) {
	end := time.After(maxWait)
	for {
		changed := g.board.Changed()
		l, err := g.take(ctx, addr)
		if _, held := errors.AsType[*lease.HeldError](err); !held {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-end:
			return nil, err
		case <-changed:
		case <-time.After(time.Second):
		}
	}
}

// take takes a place at an address, if one is free. The run keeps it until its end.
func (g *gate) take(ctx context.Context, addr netip.Addr) (l *lease.Lease, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.held[addr]; l != nil {
		return l, nil
	}
	for n := range g.places {
		if l, err = g.session.Acquire(ctx, placeKey(addr, n), g.site); err == nil {
			g.held[addr] = l
			return l, nil
		}
		if _, held := errors.AsType[*lease.HeldError](err); !held {
			return nil, err
		}
	}
	return nil, err
}

// release releases all claims of the run.
func (g *gate) release(ctx context.Context) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.held {
		err = errors.Join(err, l.Release(ctx))
	}
	return errors.Join(err, g.group.Release(ctx))
}
