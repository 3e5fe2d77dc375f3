package status

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Status is the progress of a crawl. A running crawl publishes it in the archive as status.json, which
// any process may read.
type Status struct {
	State       string `json:"state"` // running, finished, limited, stopped, refused, unreachable
	Why         string `json:"why,omitempty"`
	Seed        string `json:"seed"`
	Discovered  int    `json:"discovered"`
	Queued      int    `json:"queued"`
	InProcess   int    `json:"in_process"`
	Fetched     int    `json:"fetched"`
	Failed      int    `json:"failed"`
	Disregarded int    `json:"disregarded"`
	Orphans     int    `json:"orphans"`     // pages known from sitemaps only
	OtherSites  int    `json:"other_sites"` // URLs of other sites that links lead to; counted only here and in Rules
	// Rules counts the failed and excluded URLs by rule; Reasons are the most frequent reasons.
	Rules   map[string]int `json:"rules,omitempty"`
	Reasons []judge.Count  `json:"reasons,omitempty"`
	crawllog.Counts
	Totals
	Pace
	// Round is the part of the totals since the round began; nil before the first round.
	Round   *RoundCount   `json:"round,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns"`
	Updated time.Time     `json:"updated"`
	PID     int           `json:"pid,omitempty"`
}

// Until returns the time until which the crawl waits; zero if it is not known, or if WaitingFor names
// it, as for a Visit-time.
func (s *Status) Until() time.Time {
	if s.NextDue == nil || strings.Contains(s.WaitingFor, "until ") {
		return time.Time{}
	}
	return *s.NextDue
}

// Pace is what is in progress, and how fast.
type Pace struct {
	InFlight   []InFlight `json:"in_flight,omitempty"` // the oldest visits in flight
	Rate       float64    `json:"rate"`                // recent visits per second
	Delay      string     `json:"delay,omitempty"`
	WaitingFor string     `json:"waiting_for,omitempty"`
	NextDue    *time.Time `json:"next_due,omitempty"`
	// Left is an estimate of the time to the end, from the queue and the recent rate; 0 is
	// unknown.
	Left time.Duration `json:"left_ns,omitempty"`
	// Growth is the number of URLs discovered recently per URL done; see Growing.
	Growth float64 `json:"growth,omitempty"`
}

// RoundCount is what a round has fetched.
type RoundCount struct {
	N     int   `json:"n"`     // 1 is the first after the crawl
	Pages int   `json:"pages"` // visited again, or new
	Bytes int64 `json:"bytes"` // of payloads
}

// growing is the Growth from which the time left cannot be estimated.
const growing = 0.9

// Growing reports whether URLs are discovered about as fast as they are done.
func (s *Status) Growing() bool { return s.Growth >= growing }

// ShownReasons is how many reasons a status shows: a robots.txt may have thousands of lines that each
// exclude one URL.
const ShownReasons = 10

// MaxInFlight is how many visits in flight a Status lists.
const MaxInFlight = 16

// Of makes a Status from the stored state and the frontier's totals.
func Of(st State, all frontier.Counts, state string) Status {
	n := all.OfSite()
	s := Status{State: state, Why: st.Ended, Seed: st.Seed, Discovered: n.Discovered, Queued: n.Queued(),
		Fetched: n.Fetched,
		Failed:  n.Failed, Disregarded: n.Disregarded, Orphans: n.Orphans, OtherSites: all.OtherSites(),
		Rules: n.Reasons.Rules(), Reasons: n.Reasons.Largest(ShownReasons),
		Totals: st.Totals, Elapsed: st.Elapsed, Updated: st.Updated}
	if st.Holds != nil {
		s.Counts = *st.Holds
	}
	if st.Round != nil {
		of := st.OfRound()
		s.Round = &of
	}
	return s
}

// Read returns the status of the archive in dir, whether or not a crawl is running.
func Read(dir string) (s Status, err error) {
	defer storage.Guard(&err)()
	a, err := storage.OpenRead(dir)
	if err != nil {
		if s, ok := published(dir); ok && errors.Is(err, storage.ErrInUse) {
			return s, nil
		}
		return Status{}, err
	}
	defer a.Close()
	if s, ok := published(dir); ok && a.IsLive() {
		return s, nil
	}
	f, err := a.Frontier()
	if err != nil {
		return Status{}, err
	}
	var st State
	if ok, err := a.Crawl(&st); err != nil {
		return Status{}, err
	} else if !ok {
		return Status{}, fmt.Errorf("%s: %w", dir, storage.ErrNone)
	}
	if st.Holds == nil {
		if err := st.CountHeld(a); err != nil {
			return Status{}, err
		}
	}
	state := cmp.Or(st.Ending, "stopped")
	return Of(st, f.Counts(), state), nil
}

func published(dir string) (s Status, ok bool) {
	b, err := storage.Status(dir)
	if err != nil {
		return s, false
	}
	return s, json.Unmarshal(b, &s) == nil
}

// InFlight is a visit in progress.
type InFlight struct {
	URL   string    `json:"url"`
	Step  string    `json:"step"` // connecting, waiting for an answer, reading, rendering, committing
	Since time.Time `json:"since"`
}
