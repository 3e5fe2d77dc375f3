package frontier

import (
	"fmt"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// The following rebuilds a lost frontier, or corrects one. No visit may be in flight.

// OnPlaced sets a function that Flush calls for every URL that gets an id.
func (f *Frontier) OnPlaced(told func(id uint64, u weburl.URL)) { f.onPlaced = told }

// Restore is Add for a URL that was fetched and was therefore admitted: rules with budgets count it, but do
// not exclude it. It must not have been added before.
func (f *Frontier) Restore(l Link) {
	fp := f.fingerprint(l.URL.String())
	f.seen.add(fp, false)
	_ = f.judge(&l)
	f.put(l, fp)
}

// Settle is Finish for an entry that was not handed out, or that is finished.
func (f *Frontier) Settle(id uint64, s State, reason judge.Reason) {
	was, _ := f.Get(id)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, finished{e: &Entry{ID: id}, state: s, reason: f.reasons.number(reason), was: was})
}

// Refute turns a fetched URL into a failure, because of where its redirects led.
func (f *Frontier) Refute(id uint64, reason judge.Reason) {
	if found, ok := f.Get(id); ok && found.State == StateFetched {
		f.Settle(id, StateFailed, reason)
	}
}

// Advance reloads the frontier from disk and moves every queue past the finished entries at its beginning,
// to spare a restart that work. The settings of Judge and OnPlaced are lost.
func (f *Frontier) Advance() error {
	now := newFrontier(f.view, [16]byte{})
	if err := f.view(now.load); err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen, f.waiting, f.numbered = now.seen, now.waiting, now.numbered
	f.staging, f.adding, f.onPlaced = now.staging, now.adding, nil
	for _, q := range f.queues {
		for q.waiting > 0 {
			e, err := f.take(q)
			if err != nil {
				return err
			}
			if e == nil {
				continue
			}
			q.next, q.out = e.at, nil
			q.waiting++
			delete(f.inFlight, e.ID)
			q.advance()
			break
		}
	}
	return nil
}
