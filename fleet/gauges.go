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

// Gauges are what a worker says of itself and of the list, for a monitor.
type Gauges struct {
	Sites     map[string]int // by state; none without a session
	Running   int            // here
	Margin    time.Duration  // how long the session lasts if it is not renewed; 0 without one
	Takeovers int            // runs begun here where the one before had not ended
	Fenced    int            // runs dropped here, since another worker claimed the site
	SaveAge   time.Duration  // since the oldest last save of a run
	DueAge    time.Duration  // of the site that waits longest
	Messages  int            // sent to the engine and received from it, in this session
	Unwritten time.Duration  // since saves have been failing; 0 where they do not
	Trouble   string         // what is wrong with the store, in words; "" for nothing
}

// States are all that a site may be in.
func States() []string {
	return []string{"running", "due", "waiting", "scheduled", "paused", "failed", "done"}
}

// Gauges reads them. It may be called at any time.
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

// Crawls are the last statuses of the crawls that this worker runs, by site.
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

// opened lets Gauges read the session and the book, until closed is called:
// the next session replaces both.
func (w *Worker) opened() (closed func()) {
	set := func(v *view) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.gauged = v
	}
	now := w.view
	set(&now)
	return func() { set(nil) }
}

// tookOver counts a run that continues one which had not ended.
func (w *Worker) tookOver() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.takeovers++
}

// wasSaved notes a save of a run, or that another owns the site.
func (w *Worker) wasSaved(r *running, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		r.saved = w.o.Clock()
		w.trouble.save = ""
	case errors.Is(err, store.ErrFenced):
		if !r.fenced { // a run may find out twice
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

// unsaved is how long the run was not saved.
func (r *running) unsaved() time.Duration {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return r.w.o.Clock() - r.saved
}

// NotReady says why the worker cannot do its work, "" if it can.
func (w *Worker) NotReady() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gauged == nil || w.gauged.session.Left() <= 0 {
		return "no session"
	}
	what, _ := w.troubled()
	return what
}

// troubled says what is wrong with the store, "" for nothing, and for how long it cannot be
// written; the lock is held.
func (w *Worker) troubled() (what string, since time.Duration) {
	if w.trouble.save != "" {
		since = max(w.o.Clock()-w.trouble.since, 1)
		return fmt.Sprintf("the store cannot be written (for %s): %s", since.Round(time.Second), w.trouble.save), since
	}
	return w.trouble.list, 0
}
