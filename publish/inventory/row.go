package inventory

import (
	"time"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

// Known is what the frontier knows of one URL.
type Known struct {
	ID     uint64
	URL    string
	Class  string       // "robots", "sitemap", "requisite", "page", "disregarded"
	State  string       // "queued", "fetched", "failed", "disregarded"
	Reason judge.Reason // the rule behind the state
	How    string       // where it was found: "a href", "sitemap"
	Via    uint64       // the id of the URL that led here; 0 for a seed
	Depth  int
	Orphan bool // only a sitemap lists it
}

// EachKnown calls each for every URL of the frontier.
type EachKnown func(each func(Known) error) error

// KnownOf gives all URLs of a frontier: robots.txt files first, then sitemaps,
// requisites, pages and what was skipped, each in the order of discovery.
func KnownOf(f *frontier.Frontier) EachKnown {
	return func(each func(Known) error) error {
		for class := range judge.NumClasses {
			err := f.Each(class, func(e frontier.Found) error {
				return each(Known{ID: e.ID, URL: e.URL.String(), Class: class.String(), State: e.State.String(),
					Reason: e.Reason, How: string(e.How), Via: e.Via, Depth: e.Depth,
					Orphan: e.How == judge.HowSitemap && f.Orphan(e.URL)})
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// Row is a URL with its state.
type Row struct {
	URL    string            `json:"url"`
	State  string            `json:"state"`
	Reason string            `json:"reason"` // in words
	Rule   judge.Reason      `json:"why,omitzero"`
	Status int               `json:"status"` // 0: no answer
	Type   string            `json:"type"`   // the Content-Type as sent
	Bytes  int64             `json:"bytes"`
	Digest string            `json:"digest"`
	First  *time.Time        `json:"first"` // first and last visit; null: none
	Last   *time.Time        `json:"last"`
	Depth  int               `json:"depth"`
	Via    string            `json:"via"`
	Title  string            `json:"title"`
	Usage  usage.Preferences `json:"usage"` // the owner's usage preferences

	Class  string          `json:"-"`
	How    string          `json:"-"`
	Orphan bool            `json:"-"`
	Visit  *crawllog.Visit `json:"-"` // the current visit; nil: none
	// Listed and ViaListed report whether the URL and Via may be published.
	Listed    bool `json:"-"`
	ViaListed bool `json:"-"`
}

// Rows calls each for every URL, in the frontier's order.
func Rows(a *storage.Archive, known EachKnown, now time.Time, each func(*Row) error) error {
	vias := vias{a: a, now: now}
	return known(func(k Known) error {
		r := &Row{URL: k.URL, State: k.State, Reason: k.Reason.String(), Rule: k.Reason, Depth: k.Depth,
			Class: k.Class, How: k.How, Orphan: k.Orphan, Listed: true, Usage: usage.Preferences{}}
		visits, err := a.VisitsOf(k.ID)
		if err != nil {
			return err
		}
		via, err := vias.of(k.Via)
		if err != nil {
			return err
		}
		r.Via, r.ViaListed = via.name, via.listed
		r.describe(a, visits, now)
		return each(r)
	})
}

// describe fills in what the visits say. The status is that of the latest visit, unless it was
// 304; the rest is of the current visit.
func (r *Row) describe(a *storage.Archive, visits []*crawllog.Visit, now time.Time) {
	v, p := publish.CurrentPermit(visits, now, a.VisitsAt)
	if v == nil {
		return
	}
	first, last := visits[0], visits[len(visits)-1]
	r.Visit, r.First, r.Last = v, &first.At, &last.At
	r.Status = v.Status
	if last.Status != 304 {
		r.Status = last.Status
	}
	r.Type, r.Bytes, r.Digest = v.ContentType, v.Length, v.Labelled()
	r.Listed, r.Usage = p.List, p.Usage
	if p.Show {
		r.Title = v.Title
	}
}

// vias looks up the names of URLs by id, with a small cache: neighbouring URLs are often found
// on the same page.
type vias struct {
	a    *storage.Archive
	now  time.Time
	last [256]via // by the low bits of the id
}

type via struct {
	id     uint64
	name   string
	listed bool
}

func (c *vias) of(id uint64) (via, error) {
	had := &c.last[id%uint64(len(c.last))]
	if had.id == id && id != 0 {
		return *had, nil
	}
	visits, err := c.a.VisitsOf(id)
	if err != nil {
		return via{}, err
	}
	*had = via{id: id, listed: true}
	if v, p := publish.CurrentPermit(visits, c.now, c.a.VisitsAt); v != nil {
		had.name, had.listed = v.URL, p.List
	}
	return *had, nil
}

// Version is one visit of a URL with its result.
type Version struct {
	URL      string            `json:"url"`
	Captured time.Time         `json:"captured"`
	Status   int               `json:"status"` // 0: no answer
	Type     string            `json:"type"`   // the Content-Type as sent
	Bytes    int64             `json:"bytes"`
	Digest   string            `json:"digest"`
	Kept     string            `json:"kept"`  // "response", "revisit", "withheld"; "": nothing
	Shown    bool              `json:"shown"` // the current visit, which every outlet shows
	Note     string            `json:"note"`  // remarks: suspect, truncated, withheld
	Title    string            `json:"title"`
	Usage    usage.Preferences `json:"usage"` // the owner's usage preferences
}

// Versions calls each for every visit, by URL in order of discovery, oldest first.
func Versions(a *storage.Archive, now time.Time, each func(*Version) error) error {
	for visits, err := range a.Histories() {
		if err != nil {
			return err
		}
		current, permits := crawllog.Current(visits, a.VisitsAt), publish.Permits(visits, now, a.VisitsAt)
		for i, v := range visits {
			if err := each(version(v, &permits[i], v == current, a.VisitsAt)); err != nil {
				return err
			}
		}
	}
	return nil
}

func version(v *crawllog.Visit, p *publish.Permit, current bool, find crawllog.Lookup) *Version {
	r := &Version{URL: v.URL, Captured: v.At.UTC(), Status: v.Status, Type: v.ContentType, Bytes: v.Length,
		Digest: v.Labelled(),
		Kept:   v.Kept, Shown: current && p.Show && v.HasBody(), Note: noteOf(v, p, find), Usage: p.Usage}
	if p.Show {
		r.Title = v.Title
	}
	return r
}

// noteOf says why a visit is not shown, or how it differs from an ordinary capture.
func noteOf(v *crawllog.Visit, p *publish.Permit, find crawllog.Lookup) string {
	s := crawllog.StandingOf(v, find)
	switch {
	case v.Error != "":
		return v.Error
	case !p.Show:
		return p.Why()
	case v.Suspect != "":
		return "suspect: " + v.Suspect
	case !s.Stands():
		return s.Why
	case v.Elsewhere() != nil:
		return v.Elsewhere().String()
	case v.Kept == crawllog.KeptRevisit:
		return "the same bytes as an earlier capture"
	case v.Location != "":
		return "redirects to " + v.Location
	}
	return ""
}
