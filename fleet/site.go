// Package fleet crawls many sites on several machines: it decides which machine crawls which
// site, and when. It respects every site's pace even if machines fail.
//
//	1 due      the list of sites says what is due (site.go, book.go)
//	2 claim    a worker claims the site's group and its address (worker.go, fleet/lease)
//	3 own      it raises the epoch in the site's manifest and gets the archive (run.go, fleet/store)
//	4 crawl    as curtsy crawl does, in this process; each request passes the gate (gate.go)
//	5 save     every minute, and at the end: segments, crawl.db, manifest (run.go)
//
// The store is authoritative: it has the list of sites and each archive's manifest. The engine
// (fleet/engine) only coordinates; its data can be restored from the store. A claim is the right
// to send requests; by the worker's own clock it ends before another worker can have it. The
// epoch is the right to save.
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

// Site is a site of the fleet with the settings that people gave it.
type Site struct {
	Name    string        `json:"name"` // of the archive in the store
	Seed    string        `json:"seed"`
	Group   string        `json:"group"` // crawled one at a time; by default the registered domain
	Every   time.Duration `json:"every,omitempty"`
	Cron    string        `json:"cron,omitempty"`
	Zone    string        `json:"zone,omitempty"` // of Cron
	Contact string        `json:"contact,omitempty"`
	Config  []byte        `json:"config,omitempty"` // read by Options.Crawl
	Paused  bool          `json:"paused,omitempty"`
	Added   time.Time     `json:"added"`
}

// NewSite returns a site with the default name and group for its seed.
func NewSite(seed weburl.URL) Site {
	return Site{Name: plain(seed.Host()), Seed: seed.String(), Group: group(seed)}
}

// with returns the site with the given parts of another. A schedule replaces the previous one.
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

// Name returns the name of the site of a host or host:port.
func Name(host string) string { return plain(strings.ToLower(host)) }

// plain converts a host to a name for store and board.
func plain(host string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, strings.Trim(host, "[]."))
}

// group returns the registered domain of a host. An IP address with its port is its own group,
// since addresses are claimed anyway.
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

// Check returns an error if the site cannot be crawled.
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

// calendar parses Cron, five fields, in Zone; nil if there is none.
func (s *Site) calendar() (cron.Schedule, error) {
	if s.Cron == "" {
		return nil, nil
	}
	if strings.HasPrefix(s.Cron, "@every") || strings.Contains(s.Cron, "TZ=") {
		return nil, fmt.Errorf("%s: %q: expected five fields, such as 0 3 * * 1", s.Name, s.Cron)
	}
	zone := cmp.Or(s.Zone, "UTC")
	if _, err := time.LoadLocation(zone); err != nil {
		return nil, fmt.Errorf("%s: time zone %q: %w", s.Name, zone, err)
	}
	c, err := cron.ParseStandard("CRON_TZ=" + zone + " " + s.Cron)
	if err != nil {
		return nil, fmt.Errorf("%s: %q: %w", s.Name, s.Cron, err)
	}
	return c, nil
}

// endedFailed is an ending that crawler does not have.
const endedFailed = "failed"

// next returns when a site is due, given its last run; zero: never. A new site is due at once, or
// at the first date of its calendar.
func (s *Site) next(run *store.Run) time.Time {
	dates, _ := s.calendar() // Check rejects an invalid one
	isNew := run.Began.IsZero()
	switch {
	case isNew && dates != nil:
		return dates.Next(s.Added)
	case isNew:
		return s.Added
	case cutOff(run):
		return run.Began
	case run.Ending != "finished" && run.Ending != "limited":
		return run.Ended.Add(pause(run.Fails))
	case dates != nil:
		return dates.Next(run.Ended)
	case s.Every > 0:
		return run.Began.Add(s.Every)
	}
	return time.Time{}
}

// cutOff reports whether a run must be continued at once.
func cutOff(run *store.Run) bool {
	return !run.Began.IsZero() && (run.Ended.IsZero() || run.Ending == "stopped" && run.Fails == 0)
}

// atOnce reports whether a site is due regardless of the clock. It may have become due by a
// clock that was ahead.
func (r *Record) atOnce() bool {
	return cutOff(&r.Run) || r.Run.Began.IsZero() && r.Cron == ""
}

// isDue reports whether a site is due; it uses the clock only to compare with a date.
func (r *Record) isDue(now time.Time) bool {
	return !r.Paused && !r.Due.IsZero() && (r.atOnce() || !r.Due.After(now))
}

// pause returns the pause after consecutive failed runs.
func pause(fails int) time.Duration {
	return min(time.Minute<<min(max(fails-1, 0), 11), 24*time.Hour)
}

// Record is the board entry of a site: its settings and its state. Everything but Addr can be
// restored from the store.
type Record struct {
	Site
	Epoch int64     `json:"epoch,omitempty"`
	Run   store.Run `json:"run"`
	Due   time.Time `json:"due"`            // zero: never
	Addr  string    `json:"addr,omitempty"` // its address at the last lookup
	Stamp string    `json:"stamp"`          // identifies the writer
}

// readRecord decodes the record of a site. Since other machines write to the board, it rejects
// a record of another name, which would select another site's files and objects.
func readRecord(b []byte, name string) (r Record, err error) {
	if err = store.CheckName(name); err != nil || b == nil {
		return r, err
	}
	if err = json.Unmarshal(b, &r); err == nil && r.Name != name {
		err = fmt.Errorf("%s: its record is of %q", name, r.Name)
	}
	return r, err
}
