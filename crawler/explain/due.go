package explain

import (
	"time"

	"curtsy/crawler/revisit"
	"curtsy/frontier"
	"curtsy/internal/weburl"
)

// maxLooked is how many visits of a sitemap are searched for the last successful one.
const maxLooked = 50

// due says when update --auto visits a URL again.
func (e *explainer) due(u weburl.URL, last frontier.Found) error {
	switch {
	case len(e.x.Visits) == 0:
		return nil
	case last.Class == frontier.Prerequisite, last.Class == frontier.Sitemap:
		e.x.Due = &Due{Why: "robots.txt and sitemaps come first in every round"}
		return nil
	}
	lastMod, err := e.lastMod(u)
	if err != nil {
		return err
	}
	p := revisit.Due(e.x.Visits, lastMod)
	e.x.Due = &Due{At: p.At.UTC(), Why: p.Why}
	if p.Always() {
		e.x.Due.Why += "; pages that differ at every visit get at most a fifth of a round"
	}
	return nil
}

// lastMod returns the latest lastmod that any archived sitemap gives for u.
func (e *explainer) lastMod(u weburl.URL) (latest time.Time, err error) {
	var sitemaps []uint64
	err = e.f.Each(frontier.Sitemap, func(f frontier.Found) error {
		sitemaps = append(sitemaps, f.ID)
		return nil
	})
	if err != nil {
		return latest, err
	}
	for _, id := range sitemaps {
		visits, err := e.a.VisitsOf(id, maxLooked)
		if err != nil {
			return latest, err
		}
		good := revisit.Good(visits)
		if good == nil {
			continue
		}
		revisit.LastMods(e.a, good, func(of weburl.URL, at time.Time) {
			if of == u && at.After(latest) {
				latest = at
			}
		})
	}
	return latest, nil
}
