// Package fleet answers: which site is crawled by which machine, and when? It
// keeps every site's pace whatever dies.
//
//	1 due      the list of sites says what is due (site.go, book.go)
//	2 claim    a worker claims the site's group and its address (worker.go, fleet/lease)
//	3 own      it raises the epoch in the site's manifest, and has the archive (run.go, fleet/store)
//	4 crawl    as curtsy crawl does, in this process; each request asks the gate (gate.go)
//	5 save     every minute, and at the end: segments, crawl.db, manifest (run.go)
//
// The truth is in the store: the list of sites, and each archive's manifest. The
// engine (fleet/engine) only coordinates; what it knows is made again from the
// store. A claim is the right to send requests, and ends by the worker's own
// clock before anybody else can have it; the epoch is the right to save.
package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"golang.org/x/net/publicsuffix"

	"curtsy/fleet/store"
	"curtsy/internal/weburl"
)

// Site is one that a fleet crawls, as its people want it.
type Site struct {
	Name    string        `json:"name"` // of the archive in the store
	Seed    string        `json:"seed"`
	Group   string        `json:"group"` // of sites that are crawled one at a time; its registered domain
	Every   time.Duration `json:"every,omitempty"`
	Cron    string        `json:"cron,omitempty"`
	Zone    string        `json:"zone,omitempty"` // of Cron
	Contact string        `json:"contact,omitempty"`
	Config  []byte        `json:"config,omitempty"` // as Options.Crawl reads it
	Paused  bool          `json:"paused,omitempty"`
	Added   time.Time     `json:"added"`
}

// NewSite is a site with the name and group that its seed gives it.
func NewSite(seed weburl.URL) Site {
	return Site{Name: plain(seed.Host()), Seed: seed.String(), Group: group(seed)}
}

// with is the site with what is given of another. A schedule replaces the one before.
func (s Site) with(other *Site, given []string) Site {
	for _, part := range given {
		switch part {
		case "every", "cron":
			s.Every, s.Cron, s.Zone = other.Every, other.Cron, other.Zone
		case "contact":
			s.Contact = other.Contact
		case "config":
			s.Config = other.Config
		case "group":
			s.Group = other.Group
		}
	}
	return s
}

// Name is what the site of a host, or of host and port, is called.
func Name(host string) string { return plain(strings.ToLower(host)) }

// plain is a host as a name in a store and on the board.
func plain(host string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, strings.Trim(host, "[]."))
}

// group is the registered domain of a host; an address with its port is one of
// its own, as its address is claimed besides.
func group(seed weburl.URL) string {
	host := seed.Hostname()
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return plain(seed.Host())
	}
	if d, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return plain(d)
	}
	return plain(seed.Host())
}

// Check refuses a site that cannot be crawled.
func (s *Site) Check() error {
	if err := store.CheckName(s.Name); err != nil {
		return err
	}
	seed, err := weburl.Parse(s.Seed)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Seed, err)
	}
	if want := plain(seed.Host()); s.Name != want || s.Group == "" || plain(s.Group) != s.Group {
		return fmt.Errorf("%s: expected the name %s, and a group of letters, digits, dots and hyphens", s.Name, want)
	}
	if s.Every != 0 && s.Cron != "" {
		return fmt.Errorf("%s: give either an interval or a calendar schedule", s.Name)
	}
	if s.Every != 0 && s.Every < time.Minute {
		return fmt.Errorf("%s: an interval of %s is shorter than a minute", s.Name, s.Every)
	}
	_, err = s.calendar()
	return err
}

// calendar reads Cron, five fields, in Zone; nil where there is none.
func (s *Site) calendar() (cron.Schedule, error) {
	if s.Cron == "" {
		return nil, nil
	}
	if strings.HasPrefix(s.Cron, "@every") || strings.Contains(s.Cron, "TZ=") {
		return nil, fmt.Errorf("%s: %q: expected five fields, such as 0 3 * * 1", s.Name, s.Cron)
	}
	zone := s.Zone
	zone = cmp.Or(zone, "UTC")
	if _, err := time.LoadLocation(zone); err != nil {
		return nil, fmt.Errorf("%s: time zone %q: %w", s.Name, zone, err)
	}
	c, err := cron.ParseStandard("CRON_TZ=" + zone + " " + s.Cron)
	if err != nil {
		return nil, fmt.Errorf("%s: %q: %w", s.Name, s.Cron, err)
	}
	return c, nil
}

// Endings of a run that crawler does not have.
const endedFailed = "failed"

// next is when a site is due, after its last run; the zero time is never.
func (s *Site) next(run *store.Run) time.Time {
	if run.Began.IsZero() {
		return s.first()
	}
	if cutOff(run) {
		return run.Began
	}
	if run.Ending != "finished" && run.Ending != "limited" {
		return run.Ended.Add(pause(run.Fails))
	}
	return s.after(run.Began, run.Ended)
}

// cutOff says that a run is to continue at once.
func cutOff(run *store.Run) bool {
	return !run.Began.IsZero() && (run.Ended.IsZero() || run.Ending == "stopped" && run.Fails == 0)
}

// atOnce says that a site is due whatever the clock says: what is due at once may have
// been so by a clock that was ahead.
func (r *Record) atOnce() bool {
	return cutOff(&r.Run) || r.Run.Began.IsZero() && r.Cron == ""
}

// isDue asks the clock only where there is a date to wait for.
func (r *Record) isDue(now time.Time) bool {
	return !r.Paused && !r.Due.IsZero() && (r.atOnce() || !r.Due.After(now))
}

// first is when a site is crawled for the first time: at once, or at the first
// date in its calendar.
func (s *Site) first() time.Time {
	if c, err := s.calendar(); c != nil && err == nil {
		return c.Next(s.Added)
	}
	return s.Added
}

// after is when a site that was crawled is due again.
func (s *Site) after(began, ended time.Time) time.Time {
	if c, err := s.calendar(); c != nil && err == nil {
		return c.Next(ended)
	}
	if s.Every > 0 {
		return began.Add(s.Every)
	}
	return time.Time{}
}

// pause is how long a site is left alone after so many runs that failed.
func pause(fails int) time.Duration {
	return min(time.Minute<<min(max(fails-1, 0), 11), 24*time.Hour)
}

// Record is what the board says of a site: what people want, and how it goes.
// All of it but Addr can be made from the store.
type Record struct {
	Site
	Epoch int64     `json:"epoch,omitempty"`
	Run   store.Run `json:"run"`
	Due   time.Time `json:"due"`            // zero: never
	Addr  string    `json:"addr,omitempty"` // the address it had when it was last looked up
	Stamp string    `json:"stamp"`          // of who wrote this
}

// readRecord reads the record of a site. The board may be written by others: what a name
// leads to, on this machine's disk and in the store, is the named site's or nothing.
func readRecord(b []byte, name string) (r Record, err error) {
	if err = store.CheckName(name); err != nil || b == nil {
		return r, err
	}
	if err = json.Unmarshal(b, &r); err == nil && r.Name != name {
		err = fmt.Errorf("%s: its record is of %q", name, r.Name)
	}
	return r, err
}
