package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"curtsy/crawler/status"
	"curtsy/fleet/store"
)

// Gauges are the metrics of a worker.
type Gauges struct {
	Sites     map[string]int // by state; empty without a session
	Running   int            // number of runs on this worker
	Margin    time.Duration  // time until the session expires if it is not renewed; 0 without one
	Takeovers int            // runs started here that continue an unfinished one
	Fenced    int            // runs dropped here because another worker claimed the site
	SaveAge   time.Duration  // age of the oldest last save of the runs
	DueAge    time.Duration  // how long the longest waiting site has been due
	Messages  int            // sent to and received from the engine in this session
	Unwritten time.Duration  // how long saves have been failing; 0: they are not
	Trouble   string         // problem with the store; "": none
}

// States lists all states of sites.
func States() []string {
	return []string{"running", "due", "waiting", "scheduled", "paused", "failed", "done"}
}

// Gauges computes the metrics. It is safe for concurrent use.
func (w *Worker) Gauges() Gauges {
	w.mu.Lock()
	g := Gauges{Running: len(w.running), Takeovers: w.takeovers, Fenced: w.fenced, Sites: map[string]int{}}
	for _, r := range w.running {
		g.SaveAge = max(g.SaveAge, w.o.Clock()-r.saved)
	}
	g.Trouble, g.Unwritten = w.troubled()
	view := w.gauged
	w.mu.Unlock()
	if view == nil {
		return g
	}
	g.Margin = max(view.session.Left(), 0)
	sent := view.conn.Stats()
	g.Messages = int(sent.InMsgs + sent.OutMsgs)
	now := w.o.Now()
	view.book.each("", func(r *Record) bool {
		state, _ := view.stateOf(r, now)
		g.Sites[state]++
		if state == "due" || state == "waiting" {
			g.DueAge = max(g.DueAge, now.Sub(r.Due))
		}
		return true
	})
	return g
}

// Crawls returns the latest statuses of this worker's crawls, by site.
func (w *Worker) Crawls() map[string]status.Status {
	w.mu.Lock()
	running := maps.Clone(w.running)
	w.mu.Unlock()
	all := map[string]status.Status{}
	for name, r := range running {
		r.mu.Lock()
		s := r.status
		r.mu.Unlock()
		s.State = cmp.Or(s.State, "starting")
		all[name] = s
	}
	return all
}

// gauge makes a session and its book available to Gauges; nil, before the next session replaces
// both.
func (w *Worker) gauge(v *view) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gauged = v
}

// wasSaved records the result of a save.
func (w *Worker) wasSaved(r *running, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		r.saved = w.o.Clock()
		w.trouble.save = ""
	case errors.Is(err, store.ErrFenced):
		if !r.fenced { // the same run may report this twice
			r.fenced = true
			w.fenced++
		}
	case errors.Is(err, context.Canceled): // the run was dropped
	case w.trouble.save == "":
		w.trouble.save, w.trouble.since = err.Error(), w.o.Clock()
	default:
		w.trouble.save = err.Error()
	}
}

// unsaved returns the time since the last save of the run.
func (r *running) unsaved() time.Duration {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return r.w.o.Clock() - r.saved
}

// NotReady returns why the worker cannot work; "" if it can.
func (w *Worker) NotReady() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gauged == nil || w.gauged.session.Left() <= 0 {
		return "no session"
	}
	what, _ := w.troubled()
	return what
}

// troubled returns the problem with the store, "" for none, and for how long it has not been
// writable. The caller holds the lock.
func (w *Worker) troubled() (what string, since time.Duration) {
	if w.trouble.save != "" {
		since = max(w.o.Clock()-w.trouble.since, 1)
		return fmt.Sprintf("the store cannot be written (for %s): %s", since.Round(time.Second), w.trouble.save), since
	}
	return w.trouble.list, 0
}
