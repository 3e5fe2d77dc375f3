// Package status has the state of a crawl as stored in its archive, and the status that a running
// crawl publishes.
package status

import (
	"fmt"
	"slices"
	"time"

	"curtsy/politeness"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// State is what an archive stores about its crawl as a whole.
type State struct {
	Seed string `json:"seed"`
	Scope
	Began   time.Time     `json:"began"`
	Updated time.Time     `json:"updated"`
	Elapsed time.Duration `json:"elapsed"` // of all runs
	End
	Pages int `json:"pages"` // visits that got a response, per page URL and round: limited by --max-pages
	Totals
	Kept     int `json:"kept"` // visits by what was kept of them
	Withheld int `json:"withheld"`
	// Holds counts what the archive holds now; nil in archives of older versions. During a round
	// redirects may change meaning, so it is exact only at the end.
	Holds    *crawllog.Counts `json:"holds,omitempty"`
	Bare     int              `json:"bare,omitempty"` // pages that need their scripts and were not rendered
	Settings any              `json:"settings,omitempty"`
	// SitemapHosts are the hosts outside the site that were asked for sitemaps.
	SitemapHosts []string `json:"sitemap_hosts,omitempty"`
	// Session is the result of the session cookie check, for a site with session ids in its links.
	Session *Session `json:"session,omitempty"`
	// Narrowed says that a narrower scope excluded URLs that were queued.
	Narrowed bool `json:"narrowed,omitempty"`
	// AskRobots makes the next run fetch every robots.txt first.
	AskRobots bool                           `json:"ask_robots,omitempty"`
	Round     *Round                         `json:"round,omitempty"`  // the last round
	Rounds    []time.Time                    `json:"rounds,omitempty"` // when each round began
	Paces     map[string]politeness.Snapshot `json:"paces,omitempty"`  // by host
}

// Scope says which origins are the site.
type Scope struct {
	Origins []string `json:"origins"` // the seed's and its aliases
	// Primary is the one of Origins under which pages are fetched; "" until it is known. Apart are
	// origins that were tried as names of the site and are separate.
	Primary string   `json:"primary,omitempty"`
	Apart   []string `json:"apart,omitempty"`
}

// End says whether and how the crawl ended.
type End struct {
	Finished bool   `json:"finished"`
	Ending   string `json:"ending,omitempty"` // how the last run ended; "" while it runs or if it was killed
	Ended    string `json:"ended"`            // why
}

// Totals count all visits.
type Totals struct {
	Visits   int   `json:"visits"`
	Bytes    int64 `json:"bytes"`    // of their payloads
	Revisits int   `json:"revisits"` // visits with the same payload as an earlier one
	// Elsewhere counts visits whose payload is in another archive.
	Elsewhere int `json:"elsewhere,omitempty"`
}

// Parts splits the state into what every commit writes and what is constant during a run.
func (s State) Parts() (often, lasting any) {
	rest := struct {
		Settings any         `json:"settings,omitempty"`
		Rounds   []time.Time `json:"rounds,omitempty"`
	}{s.Settings, s.Rounds}
	s.Settings, s.Rounds = nil, nil
	return &s, &rest
}

// Session is the result of requesting a page with session ids in its links once more, with its cookie.
type Session struct {
	Page   string `json:"page"`
	Wall   bool   `json:"wall,omitempty"` // the page redirected to itself until its cookie was sent
	Before int    `json:"before"`         // links with a session id without the cookie; 1 for a wall
	After  int    `json:"after"`          // the same with the cookie
	Kept   bool   `json:"kept"`           // cookies are kept from then on
}

// String describes the result for users.
func (s *Session) String() string {
	if s.Wall {
		return "it redirected to itself until its cookie was sent back: so cookies are kept"
	}
	kept := "so cookies are kept"
	if !s.Kept {
		kept = "so cookies stay off"
	}
	return fmt.Sprintf("%d links carried a session id, %d when the cookie was sent back: %s", s.Before, s.After, kept)
}

// Names returns the origins that count as the site, the primary one first.
func (s *State) Names() []string {
	if !slices.Contains(s.Origins, s.Primary) {
		return s.Origins
	}
	return append([]string{s.Primary}, slices.DeleteFunc(slices.Clone(s.Origins),
		func(o string) bool { return o == s.Primary })...)
}

// OfRound returns what was fetched in the present round, or in the crawl if there is none.
func (s *State) OfRound() RoundCount {
	if s.Round == nil {
		return RoundCount{Pages: s.Pages, Bytes: s.Bytes}
	}
	return RoundCount{N: s.Round.N, Pages: s.Pages - s.Round.Pages, Bytes: s.Bytes - s.Round.Bytes}
}

// Round is the stored state of a round, in which known URLs are visited again.
type Round struct {
	N       int       `json:"n"` // 1 is the first after the crawl
	Began   time.Time `json:"began"`
	Auto    bool      `json:"auto,omitempty"`
	Listed  bool      `json:"listed"`  // the sitemaps have been queued
	Planned bool      `json:"planned"` // all due URLs have been queued
	Queued  int       `json:"queued"`
	Pages   int       `json:"pages"` // State.Pages at its beginning; Bytes likewise
	Bytes   int64     `json:"bytes"`
}

// Admit reports whether a host outside the site may be asked for a sitemap; at most most hosts may.
func (s *State) Admit(host string, most int) bool {
	if slices.Contains(s.SitemapHosts, host) {
		return true
	}
	if len(s.SitemapHosts) >= most {
		return false
	}
	// A copy: a commit may be reading the old slice.
	s.SitemapHosts = append(slices.Clip(s.SitemapHosts), host)
	return true
}

// Count adds a visit to the totals. page says that it counts as a page.
func (s *State) Count(v *crawllog.Visit, page bool) {
	s.Visits++
	s.Bytes += v.Length
	if page {
		s.Pages++
	}
	if page && v.Bare && v.Rendered == nil {
		s.Bare++
	}
	switch v.Kept {
	case crawllog.KeptResponse:
		s.Kept++
	case crawllog.KeptRevisit:
		s.Revisits++
	case crawllog.KeptElsewhere:
		s.Elsewhere++
	case crawllog.KeptWithheld:
		s.Withheld++
	}
}

// CountHeld recomputes Holds from the archive.
func (s *State) CountHeld(a *storage.Archive) error {
	holds := new(crawllog.Counts)
	find := crawllog.Remember(a.VisitsAt)
	for visits, err := range a.Histories() {
		if err != nil {
			return err
		}
		holds.Add(visits, find, 1)
	}
	s.Holds = holds
	return nil
}

// Hold adds a counted visit to Holds; earlier are the visits of its URL before it. If Holds is nil, as in
// archives of older versions, it is left to CountHeld.
func (s *State) Hold(v *crawllog.Visit, earlier []*crawllog.Visit) {
	var holds crawllog.Counts
	switch {
	case s.Holds != nil:
		holds = *s.Holds // a copy: a commit may be reading the old one
	case s.Visits > 1:
		return
	}
	holds.Add(earlier, nil, -1)
	holds.Add(append(slices.Clip(earlier), v), nil, 1)
	s.Holds = &holds
}

// Recount recomputes the totals from the visits in the archive, except those in without.
func (s *State) Recount(a *storage.Archive, without []crawllog.Ref) error {
	s.Totals, s.Pages, s.Kept, s.Withheld, s.Bare = Totals{}, 0, 0, 0, 0
	type asked struct {
		url   uint64
		round int
	}
	var last asked // the last page counted: one with several visits in a round counts once
	left := map[crawllog.Ref]bool{}
	for _, ref := range without {
		left[ref] = true
	}
	var ofRound State // what the last round fetched
	wanted := func(r crawllog.Ref) bool { return !left[r] }
	for v, err := range a.Visits(wanted) {
		if err != nil {
			return err
		}
		page := v.Class == "page" && v.Status > 0
		isNew := page && last != asked{v.URLID, v.Round}
		if page {
			last = asked{v.URLID, v.Round}
		}
		s.Count(v, isNew)
		if s.Round != nil && !v.At.Before(s.Round.Began) {
			ofRound.Count(v, isNew)
		}
	}
	if s.Round != nil {
		s.Round.Pages, s.Round.Bytes = s.Pages-ofRound.Pages, s.Bytes-ofRound.Bytes
	}
	if len(without) == 0 {
		return s.CountHeld(a)
	}
	s.Holds = nil // recomputed when it is next needed
	return nil
}
