package inventory

import (
	"time"

	"curtsy/publish"
	"curtsy/storage"
	"curtsy/storage/crawllog"
	"curtsy/usage"
)

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
