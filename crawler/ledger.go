package crawler

import (
	"maps"
	"sync"
	"time"

	"curtsy/crawler/status"
	"curtsy/politeness"
)

// ledger is the crawl's own entry in crawl.db: its totals over all runs, and
// how the last run ended. It is for any goroutine, but for killed,
// askRobots and had, which never change.
type ledger struct {
	killed    bool // the last run ended without saying how
	askRobots bool // it was refused: robots.txt may be another now
	had       int  // answers before this run

	mu    sync.Mutex
	state status.State
	began time.Time // this run; time since then is not yet in state.Elapsed
	err   error     // the first of the committer's
}

// change changes the state. Its lists and maps are replaced, never changed: the
// committer reads them.
func (l *ledger) change(by func(*status.State)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	by(&l.state)
}

// get is the state as of the last change.
func (l *ledger) get() (s status.State) {
	l.change(func(now *status.State) { s = *now })
	return s
}

// answers counts the visits that had an answer.
func (l *ledger) answers() int {
	s := l.get()
	return s.Kept + s.Revisits + s.Withheld
}

// snapshot is the state as of now.
func (l *ledger) snapshot(now time.Time) status.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	s.Updated = now.UTC()
	s.Elapsed += now.Sub(l.began)
	return s
}

// end notes how a run ended, and what each host must be remembered for.
func (l *ledger) end(r Result, now time.Time, paces map[string]*pace) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Elapsed += now.Sub(l.began)
	l.began = now
	l.state.Finished = r.Ending == Done
	l.state.AskRobots = r.Ending == Refused || r.Ending == Unreachable
	l.state.Ending, l.state.Ended = r.Ending.String(), r.Why
	l.state.Paces = map[string]politeness.Snapshot{}
	for host, p := range paces {
		if s := p.Snapshot(); s.Failures > 0 || s.Penalty > 0 || p.Next(now).At.After(now) {
			l.state.Paces[host] = s
		}
	}
	l.err = nil
}

// remember keeps what a kill must not lose: failures, challenges in a row, and the
// time before which a host asked not to be visited.
func (l *ledger) remember(p *pace) {
	s := p.Snapshot()
	l.mu.Lock()
	defer l.mu.Unlock()
	had := l.state.Paces[p.host]
	if s.Failures == had.Failures && s.Blocks == had.Blocks && s.Until.Equal(had.Until) {
		return
	}
	paces := maps.Clone(l.state.Paces)
	if paces == nil {
		paces = map[string]politeness.Snapshot{}
	}
	paces[p.host] = s
	l.state.Paces = paces
}

// fail keeps the first error of the committer; the loop stops on it.
func (l *ledger) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
}

func (l *ledger) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// admitted says whether a host that is not the site's may be asked for a
// sitemap: most of them may, in the life of the archive.
func (l *ledger) admitted(host string, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Admit(host, most)
}
