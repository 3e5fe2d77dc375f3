package frontier

import (
	"fmt"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// What follows makes a frontier anew of an archive that lost it. It is for an
// archive that is not being crawled.

// OnPlaced has f told of every URL that a Flush gives an id.
func (f *Frontier) OnPlaced(told func(id uint64, u weburl.URL)) { f.onPlaced = told }

func (f *Frontier) placed(links []Link) {
	if f.onPlaced == nil {
		return
	}
	for i := range links {
		f.onPlaced(f.nextID+uint64(i), links[i].URL)
	}
}

// Restore is Add for a URL that was fetched, and so was let through: the rules
// that remember what came before count it, and do not hold it back. It must
// not have been added before.
func (f *Frontier) Restore(l Link) {
	fp := f.fingerprint(l.URL.String())
	f.seen.add(fp, false)
	_ = f.judge(&l)
	f.put(l, fp)
}

// Settle is Finish for an entry that nobody took from its queue, or that is finished.
func (f *Frontier) Settle(id uint64, s State, reason judge.Reason) {
	was, _ := f.Get(id)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, finished{e: &Entry{ID: id}, state: s, reason: f.reasons.number(reason), was: was})
}

// Refute makes a URL that was fetched a failure: what it led to shows that it is one.
func (f *Frontier) Refute(id uint64, reason judge.Reason) {
	if found, ok := f.Get(id); ok && found.State == StateFetched {
		f.Settle(id, StateFailed, reason)
	}
}

// Advance reads the frontier once more, as it is on disk now, and moves every queue
// behind what is finished at its beginning, so that a restart has no need to. What
// Judge and OnPlaced said is forgotten.
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
