package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"curtsy/fleet/engine"
	"curtsy/internal/legible"
)

// SiteStatus is a site in the output of status.
type SiteStatus struct {
	Name    string     `json:"name"`
	Seed    string     `json:"seed"`
	State   string     `json:"state"` // running, due, waiting, scheduled, paused, failed, done
	Worker  string     `json:"worker,omitempty"`
	Ending  string     `json:"ending,omitempty"` // of the last run
	Due     *time.Time `json:"due,omitempty"`
	Epoch   int64      `json:"epoch"`
	Fetched int        `json:"fetched"`
	Failed  int        `json:"failed"`
	Queued  int        `json:"queued"`
	Bytes   int64      `json:"bytes"`
	Unsaved float64    `json:"unsaved_seconds,omitempty"` // of a running crawl: time since its last save
}

// status lists at most most sites whose names follow q.After, of one state or all. The first
// page also has the totals.
func (w *Worker) status(q *Ask, most int) Answer {
	a := Answer{Worker: w.session.Workers()}
	now := w.o.Now()
	if len(q.Names) > 0 {
		for _, name := range q.Names {
			if r, err := w.book.record(name); err == nil {
				is, worker := w.stateOf(&r, now)
				a.Sites = append(a.Sites, statusOf(&r, is, worker))
			}
		}
		return a
	}
	if q.After == "" {
		a.States = map[string]int{}
		if w.filling() {
			a.Text = "the list of sites is being read from the store"
		}
	}
	w.book.each(q.After, func(r *Record) bool {
		is, worker := w.stateOf(r, now)
		if a.States != nil {
			a.Total++
			a.States[is]++
			a.Pages, a.Bytes = a.Pages+r.Run.Fetched, a.Bytes+r.Run.Bytes
		}
		if q.State != "" && q.State != is || q.Worker != "" && q.Worker != worker {
			return true
		}
		if len(a.Sites) == most {
			a.More = true
			return a.States != nil
		}
		a.Sites = append(a.Sites, statusOf(r, is, worker))
		return true
	})
	return a
}

// statusOf makes the status of a site.
func statusOf(r *Record, state, worker string) SiteStatus {
	s := SiteStatus{Name: r.Name, Seed: r.Seed, State: state, Worker: worker, Epoch: r.Epoch, Ending: r.Run.Ending,
		Fetched: r.Run.Fetched, Failed: r.Run.Failed, Queued: r.Run.Queued, Bytes: r.Run.Bytes}
	if !r.Due.IsZero() {
		due := r.Due
		s.Due = &due
	}
	return s
}

// stateOf returns the state of a site, and the worker that crawls it.
func (v *view) stateOf(r *Record, now time.Time) (state, worker string) {
	h, held := v.session.Claim(groupKey(r.Group))
	switch {
	case held && h.For == r.Name:
		return "running", h.Worker
	case r.Paused:
		return "paused", ""
	case r.isDue(now) && v.blocked(r) != "":
		return "waiting", ""
	case r.isDue(now):
		return "due", ""
	case r.Run.Fails > 0 && !r.Due.IsZero():
		return "failed", ""
	case !r.Due.IsZero():
		return "scheduled", ""
	}
	return "done", ""
}

// crawled returns the named sites that are being crawled, listed or not.
func (w *Worker) crawled(names []string) (a Answer) {
	for _, h := range w.session.Claims(groupKey("")) {
		if slices.Contains(names, h.For) {
			a.Sites = append(a.Sites, SiteStatus{Name: h.For, State: "running", Worker: h.Worker})
		}
	}
	return a
}

// live asks the workers for the progress of their crawls, since the board has only what was
// saved last.
func (w *Worker) live(n *nats.Conn, a *Answer) {
	names := map[string][]string{}
	for _, s := range a.Sites {
		if s.State == "running" {
			names[s.Worker] = append(names[s.Worker], s.Name)
		}
	}
	if a.States != nil { // the totals include sites not listed
		for _, h := range w.session.Claims(groupKey("")) {
			names[h.Worker] = slices.Clip(names[h.Worker])
		}
	}
	var mu sync.Mutex
	var asked sync.WaitGroup
	all := map[string]Live{}
	for worker, list := range names {
		asked.Go(func() {
			got, err := w.ofWorker(n, worker, list)
			if err != nil {
				return // show what was saved
			}
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(all, got.Live)
			if a.States != nil {
				a.Pages, a.Bytes = a.Pages+got.Pages, a.Bytes+got.Bytes
			}
		})
	}
	asked.Wait()
	for i := range a.Sites {
		s := &a.Sites[i]
		if now, ok := all[s.Name]; ok && s.State == "running" {
			s.Fetched, s.Failed, s.Queued, s.Bytes, s.Unsaved = now.Fetched, now.Failed, now.Queued, now.Bytes,
				now.Unsaved.Seconds()
		}
	}
}

// ofWorker asks a worker, or this one, for the progress of its crawls.
func (w *Worker) ofWorker(n *nats.Conn, worker string, names []string) (Answer, error) {
	if worker == w.o.Name {
		return w.doing(names), nil
	}
	return request(n, engine.AskPeers+plain(worker), Ask{Do: "running", Names: names}, peerTimeout)
}

// doing returns the progress of the named sites on this worker, and the results of all its
// crawls that are not on the board yet.
func (w *Worker) doing(names []string) (a Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	a.Live = map[string]Live{}
	for _, r := range w.running {
		pages, bytes := r.brought()
		a.Pages, a.Bytes = a.Pages+pages, a.Bytes+bytes
	}
	for _, name := range names {
		if r := w.running[name]; r != nil {
			a.Live[name] = r.live()
		}
	}
	return a
}

// whyAll says for each site why it waits, or what it is doing.
func (w *Worker) whyAll(ctx context.Context, n *nats.Conn, names []string) (a Answer, err error) {
	var lines []string
	for _, name := range names {
		r, err := w.book.known(ctx, name)
		if err != nil {
			return a, err
		}
		lines = append(lines, r.Name+": "+w.why(n, &r))
	}
	a.Text = strings.Join(lines, "\n")
	return a, nil
}

// why says why a site waits, or what it is doing.
func (w *Worker) why(n *nats.Conn, r *Record) string {
	now := w.o.Now()
	h, held := w.session.Claim(groupKey(r.Group))
	switch {
	case held && h.For == r.Name && h.Left < w.o.Term/2:
		return fmt.Sprintf("its worker %s has not responded for %s; another takes over in %s", h.Worker,
			(w.o.Term - h.Left).Round(time.Second), max(h.Left, 0).Round(time.Second))
	case held && h.For == r.Name:
		return w.whyRunning(n, r, h.Worker)
	case r.Paused:
		return "paused; curtsy fleet go " + r.Name + " resumes it"
	case r.Due.IsZero():
		return fmt.Sprintf("done: %s%s; it has no schedule", r.Run.Ending, because(r.Run.Why))
	case !r.isDue(now) && r.Run.Fails > 0:
		return fmt.Sprintf("its last run was %s%s; the next try is at %s, number %d", r.Run.Ending,
			because(r.Run.Why), at(r.Due), r.Run.Fails+1)
	case !r.isDue(now):
		return "waiting for " + at(r.inZone(r.Due)) + schedule(r)
	case held:
		return fmt.Sprintf("waiting for the lease of %s, which %s holds for %s", r.Group, h.Worker, h.For)
	}
	return w.whyDue(r)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func at(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }

// inZone converts a time to the zone of the site's calendar.
func (s *Site) inZone(t time.Time) time.Time {
	if zone, err := time.LoadLocation(s.Zone); err == nil {
		return t.In(zone)
	}
	return t
}

func schedule(r *Record) string {
	switch {
	case r.Cron != "":
		return fmt.Sprintf(" (cron %s, %s)", r.Cron, cmp.Or(r.Zone, "UTC"))
	case r.Every > 0:
		return " (every " + interval(r.Every) + ")"
	}
	return ""
}

// interval formats a duration as people write it: 7d, 12h, 90m.
func interval(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d%unit.of == 0 {
			return fmt.Sprint(int64(d/unit.of), unit.name)
		}
	}
	return d.String()
}

// peerTimeout is how long a worker waits for the answer of another.
const peerTimeout = 3 * time.Second

func (w *Worker) whyRunning(n *nats.Conn, r *Record, worker string) string {
	a, err := w.ofWorker(n, worker, []string{r.Name})
	if err != nil {
		h, _ := w.session.Claim(groupKey(r.Group))
		return fmt.Sprintf("its worker %s does not respond; unless it does, another takes over in %s", worker,
			max(h.Left, 0).Round(time.Second))
	}
	text := "being crawled by " + worker
	if now, ok := a.Live[r.Name]; ok {
		text += ": " + now.Words
		if now.Unsaved > unsavedSaid {
			text += fmt.Sprintf("; not saved for %s", now.Unsaved.Round(time.Second))
		}
	}
	return text + w.storeTrouble(worker)
}

// unsavedSaid is the time without a save after which why mentions it.
const unsavedSaid = 3 * time.Minute

// storeTrouble returns a worker's problem with the store, after a semicolon.
func (w *Worker) storeTrouble(worker string) string {
	for _, other := range w.session.Workers() {
		var a About
		if other.Name == worker && json.Unmarshal(other.About, &a) == nil && a.Store != "" {
			return "; " + a.Store
		}
	}
	return ""
}

// whyDue says what a site waits for that is due and whose group is free.
func (w *Worker) whyDue(r *Record) string {
	if left := w.session.Closed(); left > 0 {
		return fmt.Sprintf("due; claims are granted in %s, once all that the engine before granted have expired",
			left.Round(time.Second))
	}
	if key := w.blocked(r); key != "" {
		h, _ := w.session.Claim(key)
		return fmt.Sprintf("waiting for the address %s, shared with %s; %s is being crawled there, by %s", r.Addr,
			legible.Count(w.book.sharing(r.Addr)-1, "other site"), h.For, h.Worker)
	}
	var full []string
	for _, worker := range w.session.Workers() {
		var a About
		if json.Unmarshal(worker.About, &a) != nil || a.Slots == 0 {
			continue
		}
		switch {
		case a.Draining:
			full = append(full, worker.Name+": drained")
		case a.Store != "":
			full = append(full, worker.Name+": "+a.Store)
		case a.Refuses != "":
			full = append(full, worker.Name+": "+a.Refuses)
		case a.Running >= a.Slots:
			full = append(full, fmt.Sprintf("%s: all %d slots are in use", worker.Name, a.Slots))
		}
	}
	slices.Sort(full)
	if len(full) == 0 {
		return "due: the next free worker takes it"
	}
	return "due, and waiting for a worker (" + strings.Join(full, "; ") + ")"
}
