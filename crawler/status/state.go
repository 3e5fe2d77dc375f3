// Package status answers: how does a crawl go? It is what an archive knows of
// its crawl as a whole, and what a running crawl publishes for others to read.
package status

import (
	"fmt"
	"slices"
	"time"

	"curtsy/politeness"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// State is what an archive knows of its crawl as a whole.
type State struct {
	Seed string `json:"seed"`
	Scope
	Began   time.Time     `json:"began"`
	Updated time.Time     `json:"updated"`
	Elapsed time.Duration `json:"elapsed"` // of all runs
	End
	Pages int `json:"pages"` // URLs of pages that were answered, again in each round: what --max-pages limits
	Totals
	Kept     int `json:"kept"` // visits by what is kept of them
	Withheld int `json:"withheld"`
	// Holds is what is there now; nil in an archive of an earlier curtsy. A round that
	// runs may change what redirects stand for: it is exact when the round has ended.
	Holds    *crawllog.Counts `json:"holds,omitempty"`
	Bare     int              `json:"bare,omitempty"` // pages that need their scripts, and were not rendered
	Settings any              `json:"settings,omitempty"`
	// SitemapHosts are the hosts, not of the site, that were asked for sitemaps.
	SitemapHosts []string `json:"sitemap_hosts,omitempty"`
	// Session is what was found of a site that puts the ids of sessions into its links.
	Session *Session `json:"session,omitempty"`
	// Narrowed says that a narrower scope held back what was queued already.
	Narrowed bool `json:"narrowed,omitempty"`
	// AskRobots makes the next run ask for every robots.txt first.
	AskRobots bool                           `json:"ask_robots,omitempty"`
	Round     *Round                         `json:"round,omitempty"`  // the last one
	Rounds    []time.Time                    `json:"rounds,omitempty"` // when each began
	Paces     map[string]politeness.Snapshot `json:"paces,omitempty"`  // by host
}

// Scope is which origins are the site.
type Scope struct {
	Origins []string `json:"origins"` // the seed's and its aliases
	// Primary is the one of Origins under which pages are asked for; "" as long as
	// that is not known. Apart are those that might be names of the site and are not.
	Primary string   `json:"primary,omitempty"`
	Apart   []string `json:"apart,omitempty"`
}

// End is whether and how a crawl came to its end.
type End struct {
	Finished bool   `json:"finished"`
	Ending   string `json:"ending,omitempty"` // how the last run ended; "" while it runs or was killed
	Ended    string `json:"ended"`            // why
}

// Totals are those of all visits.
type Totals struct {
	Visits   int   `json:"visits"`
	Bytes    int64 `json:"bytes"`    // of their payloads
	Revisits int   `json:"revisits"` // those that brought the same payload as another
	// Elsewhere are those whose payload is in an archive of somebody else's.
	Elsewhere int `json:"elsewhere,omitempty"`
}

// Parts is what each commit writes, and what stays as it is for a whole run.
func (s State) Parts() (often, lasting any) {
	rest := struct {
		Settings any         `json:"settings,omitempty"`
		Rounds   []time.Time `json:"rounds,omitempty"`
	}{s.Settings, s.Rounds}
	s.Settings, s.Rounds = nil, nil
	return &s, &rest
}

// Session says what became of the ids in the links of a page when it was asked for
// once more, with the cookie that it had set.
type Session struct {
	Page   string `json:"page"`
	Wall   bool   `json:"wall,omitempty"` // it redirected to itself until its cookie was sent back
	Before int    `json:"before"`         // links with an id, without the cookie; 1 for a wall
	After  int    `json:"after"`          // with it
	Kept   bool   `json:"kept"`           // cookies are kept from then on
}

// String says it for people.
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

// Names are the origins that count as the site, that of its pages first.
func (s *State) Names() []string {
	if !slices.Contains(s.Origins, s.Primary) {
		return s.Origins
	}
	return append([]string{s.Primary}, slices.DeleteFunc(slices.Clone(s.Origins),
		func(o string) bool { return o == s.Primary })...)
}

// OfRound is what was fetched, without what was before the round if there is one.
func (s *State) OfRound() RoundCount {
	if s.Round == nil {
		return RoundCount{Pages: s.Pages, Bytes: s.Bytes}
	}
	return RoundCount{N: s.Round.N, Pages: s.Pages - s.Round.Pages, Bytes: s.Bytes - s.Round.Bytes}
}

// Round is what an archive knows of a round: URLs that are known being visited
// again.
type Round struct {
	N       int       `json:"n"` // the first after the crawl is 1
	Began   time.Time `json:"began"`
	Auto    bool      `json:"auto,omitempty"`
	Listed  bool      `json:"listed"`  // sitemaps have been asked for
	Planned bool      `json:"planned"` // all URLs that are due have been queued
	Queued  int       `json:"queued"`
	Pages   int       `json:"pages"` // of the archive, when it began
	Bytes   int64     `json:"bytes"`
}

// Admit says whether a host that is not the site's may be asked for a sitemap:
// most of them may.
func (s *State) Admit(host string, most int) bool {
	if slices.Contains(s.SitemapHosts, host) {
		return true
	}
	if len(s.SitemapHosts) >= most {
		return false
	}
	// A copy: somebody may be writing the one that is there.
	s.SitemapHosts = append(slices.Clip(s.SitemapHosts), host)
	return true
}

// Count adds a visit to the totals.
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

// CountHeld counts what the archive holds.
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

// Hold takes a visit that was counted into what is held; earlier are those of its URL
// before it. Where an earlier curtsy counted nothing, it is left to CountHeld.
func (s *State) Hold(v *crawllog.Visit, earlier []*crawllog.Visit) {
	var holds crawllog.Counts
	switch {
	case s.Holds != nil:
		holds = *s.Holds // a copy: somebody may be writing the one that is there
	case s.Visits > 1:
		return
	}
	holds.Add(earlier, nil, -1)
	holds.Add(append(slices.Clip(earlier), v), nil, 1)
	s.Holds = &holds
}

// Recount makes the totals those of the visits that are there, without some.
func (s *State) Recount(a *storage.Archive, without []crawllog.Ref) error {
	s.Totals, s.Pages, s.Kept, s.Withheld, s.Bare = Totals{}, 0, 0, 0, 0
	var page uint64 // the last one counted
	left := map[crawllog.Ref]bool{}
	for _, ref := range without {
		left[ref] = true
	}
	wanted := func(r crawllog.Ref) bool { return !left[r] }
	for v, err := range a.Visits(wanted) {
		if err != nil {
			return err
		}
		s.Count(v, v.Class == "page" && v.Status > 0 && v.URLID != page)
		if v.Class == "page" && v.Status > 0 {
			page = v.URLID
		}
	}
	if s.Round != nil { // a round that goes on has its limits
		s.Round.Pages, s.Round.Bytes = min(s.Round.Pages, s.Pages), min(s.Round.Bytes, s.Bytes)
	}
	if len(without) == 0 {
		return s.CountHeld(a)
	}
	s.Holds = nil // as of what is left when it is asked for
	return nil
}
