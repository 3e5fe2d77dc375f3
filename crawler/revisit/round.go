package revisit

import (
	"crypto/sha256"
	"regexp"
	"time"

	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Options select what a round visits again.
type Options struct {
	OlderThan time.Duration  // URLs whose last visit is older than this; 0 is all
	Auto      bool           // URLs that are due, instead of OlderThan
	Only      *regexp.Regexp // only URLs that match; nil is all
}

// Round selects and queues what a round visits again.
type Round struct {
	Options Options
	State   *status.Round // of the archive; Plan sets Queued, Listed and Planned
	// Now is the time. A visit later than Now was made before the clock was set back, so its age
	// is unknown.
	Now time.Time
	// Queue queues URLs for another visit, durably.
	Queue func(again ...frontier.Found) error

	// Beyond reports, from its last visit, whether a URL is outside the site; nil: none is.
	Beyond func(last *crawllog.Visit) bool

	sitemaps bool                            // select sitemaps only
	lastMod  map[[sha256.Size]byte]time.Time // by the SHA-256 of a page's URL
	held     []frontier.Found                // pages that differ at each visit
	batch    []frontier.Found
}

// planBatch is how many URLs are queued per commit.
const planBatch = 5000

// Plan goes through all visits of an archive and queues what is due. In an automatic round the first
// call queues only the sitemaps, so that their lastmod dates are known when the second selects pages.
func (r *Round) Plan(a *storage.Archive) error {
	s := r.State
	s.Queued = 0 // a killed plan is counted anew
	r.sitemaps = s.Auto && !s.Listed
	if s.Auto && s.Listed {
		r.lastMod = lastMods(a)
	}
	for visits, err := range a.Histories() {
		if err == nil {
			err = r.consider(visits)
		}
		if err != nil {
			return err
		}
	}
	if err := r.flush(); err != nil {
		return err
	}
	// Pages that differ at each visit get at most a fifth of the round.
	r.batch = append(r.batch, r.held[:min(s.Queued/4+1, len(r.held))]...)
	if err := r.flush(); err != nil {
		return err
	}
	s.Listed, s.Planned = true, !r.sitemaps
	return nil
}

// consider queues a URL if the round is to visit it.
func (r *Round) consider(visits []*crawllog.Visit) error {
	last, o := visits[len(visits)-1], &r.Options
	isMap, undated := last.Class == frontier.Sitemap.String(), last.At.After(r.Now)
	switch {
	case last.Class == frontier.Prerequisite.String():
		return nil
	case !last.At.Before(r.State.Began) && !undated:
		r.State.Queued++ // queued before in this round
		return nil
	case r.sitemaps && !isMap:
		return nil
	case isMap:
	case r.Beyond != nil && r.Beyond(last):
		return nil
	case o.Only != nil && !o.Only.MatchString(last.URL):
		return nil
	case !r.State.Auto:
		if o.OlderThan > 0 && !undated && r.State.Began.Sub(last.At) < o.OlderThan && !unconfirmed(visits) {
			return nil
		}
	default:
		due := Due(visits, r.lastMod[sha256.Sum256([]byte(last.URL))])
		if due.At.After(r.State.Began) && !undated {
			return nil
		}
		if due.Always() {
			r.held = append(r.held, requeued(visits))
			return nil
		}
	}
	r.batch = append(r.batch, requeued(visits))
	if len(r.batch) < planBatch {
		return nil
	}
	return r.flush()
}

// requeued returns the URL of the visits with their highest number, which need not be that of the
// latest visit: captures may have been imported.
func requeued(visits []*crawllog.Visit) frontier.Found {
	f := frontier.Found{}
	for _, v := range visits {
		f.ID, f.Attempts = v.URLID, max(f.Attempts, v.N)
	}
	return f
}

func (r *Round) flush() error {
	r.State.Queued += len(r.batch)
	err := r.Queue(r.batch...)
	r.batch = r.batch[:0]
	return err
}

// lastMods returns the lastmod dates of all archived sitemaps, by the SHA-256 of the URL.
func lastMods(a *storage.Archive) map[[sha256.Size]byte]time.Time {
	dates := map[[sha256.Size]byte]time.Time{}
	for visits, err := range a.Histories() {
		if err != nil {
			break // the plan meets the error again
		}
		if good := Good(visits); good != nil && good.Class == frontier.Sitemap.String() {
			LastMods(a, good, func(u weburl.URL, at time.Time) {
				if key := sha256.Sum256([]byte(u.String())); at.After(dates[key]) {
					dates[key] = at
				}
			})
		}
	}
	return dates
}
