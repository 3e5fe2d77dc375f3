package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// SiteStatus is a site as status shows it.
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
}

// status lists so many of the sites whose names come after one, those of one state
// or all. The first page has the totals, too.
func (w *Worker) status(state, after string, most int) Answer {
	a := Answer{Worker: w.session.Workers()}
	now, records := w.o.Now(), w.book.records()
	from := 0
	if after == "" {
		a.Total, a.States = len(records), map[string]int{}
	} else {
		from, _ = slices.BinarySearchFunc(records, after+"\x00", func(r Record, name string) int { return cmp.Compare(r.Name, name) })
	}
	for i := range records[from:] {
		s := w.statusOf(&records[from+i], now)
		if a.States != nil {
			a.States[s.State]++
		}
		if state != "" && state != s.State {
			continue
		}
		if len(a.Sites) == most {
			a.More = true
			if a.States == nil {
				break
			}
			continue
		}
		a.Sites = append(a.Sites, s)
	}
	return a
}

// statusOf is the state of a site.
func (v *view) statusOf(r *Record, now time.Time) SiteStatus {
	s := SiteStatus{Name: r.Name, Seed: r.Seed, Epoch: r.Epoch, Ending: r.Run.Ending, Fetched: r.Run.Fetched, Failed: r.Run.Failed, Queued: r.Run.Queued}
	if !r.Due.IsZero() {
		s.Due = &r.Due
	}
	h, held := v.session.Claim(groupKey(r.Group))
	failed := r.Fails > 0
	switch {
	case held && h.For == r.Name:
		s.State, s.Worker = "running", h.Worker
	case r.Paused:
		s.State = "paused"
	case r.isDue(now) && v.blocked(r) != "":
		s.State = "waiting"
	case r.isDue(now):
		s.State = "due"
	case failed && !r.Due.IsZero():
		s.State = "failed"
	case !r.Due.IsZero():
		s.State = "scheduled"
	default:
		s.State = "done"
	}
	return s
}

// doing is what this worker does for the sites that it crawls.
func (w *Worker) doing(names []string) (a Answer, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		if r := w.running[name]; r != nil {
			a.Text = r.inWords()
		}
	}
	return a, nil
}

// whyAll says why each site waits, or what it does.
func (w *Worker) whyAll(n *nats.Conn, names []string) (a Answer, err error) {
	var lines []string
	for _, name := range names {
		r, err := w.book.record(name)
		if err != nil {
			return a, err
		}
		lines = append(lines, r.Name+": "+w.why(n, &r))
	}
	a.Text = strings.Join(lines, "\n")
	return a, nil
}

// why says in words why a site waits, or what it does.
func (w *Worker) why(n *nats.Conn, r *Record) string {
	now := w.o.Now()
	h, held := w.session.Claim(groupKey(r.Group))
	switch {
	case held && h.For == r.Name && h.Left < w.term()/2:
		return fmt.Sprintf("its worker %s has not responded for %s; another takes over in %s", h.Worker, (w.term() - h.Left).Round(time.Second), max(h.Left, 0).Round(time.Second))
	case held && h.For == r.Name:
		return w.whyRunning(n, r, h.Worker)
	case r.Paused:
		return "paused; curtsy fleet go " + r.Name + " resumes it"
	case r.Due.IsZero():
		return fmt.Sprintf("done: %s%s; it has no schedule", r.Run.Ending, because(r.Run.Why))
	case !r.isDue(now) && r.Fails > 0:
		return fmt.Sprintf("its last run was %s%s; the next try is at %s, %s", r.Run.Ending, because(r.Run.Why), at(r.Due), ordinal(r.Fails+1))
	case !r.isDue(now):
		return "waiting for " + at(r.inZone(r.Due)) + schedule(r)
	case held:
		return fmt.Sprintf("waiting for the lease of %s, which %s holds for %s", r.Group, h.Worker, h.For)
	}
	return w.whyDue(r)
}

func (w *Worker) term() time.Duration { return cmp.Or(w.o.Term, 30*time.Second) }

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func ordinal(n int) string { return fmt.Sprintf("number %d", n) }

func at(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }

// inZone is a time in the zone of the site's calendar, as people wrote it.
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

// interval is as people write it: 7d, 12h, 90m.
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

func (w *Worker) whyRunning(n *nats.Conn, r *Record, worker string) string {
	a, err := Answer{}, error(nil)
	if worker == w.o.Name {
		a, err = w.doing([]string{r.Name})
	} else {
		a, err = request(n, askedOf+plain(worker), Ask{Do: "running", Names: []string{r.Name}})
	}
	if err != nil || a.Text == "" {
		return "being crawled by " + worker
	}
	return "being crawled by " + worker + ": " + a.Text
}

// whyDue says what a site waits for that is due, and whose group is free.
func (w *Worker) whyDue(r *Record) string {
	if key := w.blocked(r); key != "" {
		h, _ := w.session.Claim(key)
		return fmt.Sprintf("waiting for the address %s, shared with %s; %s is being crawled there, by %s", r.Addr, w.sharing(r.Addr), h.For, h.Worker)
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

// sharing counts the other sites at an address.
func (w *Worker) sharing(addr string) string {
	n := -1
	for _, r := range w.book.records() {
		if a, err := netip.ParseAddr(r.Addr); err == nil && a.String() == addr {
			n++
		}
	}
	if n == 1 {
		return "1 other site"
	}
	return fmt.Sprintf("%d other sites", n)
}
