package crawler

import (
	"maps"
	"sync"
	"time"

	"curtsy/crawler/status"
	"curtsy/politeness"
)

// ledger is the crawl's own state in crawl.db: its totals over all runs, and how the last run
// ended. It is safe for concurrent use; killed, askRobots and had are constant during a run.
type ledger struct {
	killed    bool // the last run did not record how it ended
	askRobots bool // the last run was refused or found the site unreachable: fetch robots.txt again
	had       int  // responses archived before this run

	mu    sync.Mutex
	state status.State
	began time.Time // start of this run; the time since then is not yet in state.Elapsed
	err   error     // the first error; it ends the run
}

// change modifies the state. by must replace the state's slices and maps, not modify them: the
// committer reads them without the lock.
func (l *ledger) change(by func(*status.State)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	by(&l.state)
}

// get returns the present state.
func (l *ledger) get() (s status.State) {
	l.change(func(now *status.State) { s = *now })
	return s
}

// answers counts the visits that got a response.
func (l *ledger) answers() int {
	s := l.get()
	return s.Kept + s.Revisits + s.Withheld
}

// snapshot returns the state with the elapsed time up to now.
func (l *ledger) snapshot(now time.Time) status.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	s.Updated = now.UTC()
	s.Elapsed += now.Sub(l.began)
	return s
}

// end records how a run ended, and the paces of hosts that must not be asked at once.
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

// remember saves what must survive a kill: failures, consecutive challenges, and the time until which
// a host asked to be left alone.
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

// fail records an error, unless there is one already. The loop ends the run because of it.
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

// admitted reports whether a host outside the site may be asked for a sitemap; at most most such
// hosts may be in the life of the archive.
func (l *ledger) admitted(host string, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.Admit(host, most)
}
