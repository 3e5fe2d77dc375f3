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

// Options are what a round visits again.
type Options struct {
	OlderThan time.Duration  // URLs whose last visit is older; 0 is all
	Auto      bool           // URLs that are due, in place of OlderThan
	Only      *regexp.Regexp // URLs that match; nil is all
}

// Round is the choice of what a round visits again.
type Round struct {
	Options Options
	State   *status.Round // of the archive; it is counted in what is queued
	// Now is the time. What was visited later was visited before the clock was set
	// back: nobody knows how long ago.
	Now time.Time
	// Queue makes URLs wait for another visit, durably.
	Queue func(again ...frontier.Found) error

	// Beyond says which URLs are not of the site, by their last visit; nil: none.
	Beyond func(last *crawllog.Visit) bool

	sitemaps bool                            // sitemaps alone
	lastMod  map[[sha256.Size]byte]time.Time // by the digest of a page's URL
	held     []frontier.Found                // pages that differ at each visit
	batch    []frontier.Found
}

// planBatch is how many URLs one commit of a plan queues.
const planBatch = 5000

// Plan walks over all visits of an archive and queues what is due. Of an
// automatic round it queues the sitemaps alone at first: what they say of pages
// is known before pages are chosen.
func (r *Round) Plan(a *storage.Archive) error {
	s := r.State
	s.Queued = 0 // what a plan that was killed had counted is counted again
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
	// Pages that differ at each visit get a fifth of the round at the most.
	r.batch = append(r.batch, r.held[:min(s.Queued/4+1, len(r.held))]...)
	if err := r.flush(); err != nil {
		return err
	}
	s.Listed, s.Planned = true, !r.sitemaps
	return nil
}

// consider queues a URL that the round is to visit.
func (r *Round) consider(visits []*crawllog.Visit) error {
	last, o := visits[len(visits)-1], &r.Options
	isMap, undated := last.Class == frontier.Sitemap.String(), last.At.After(r.Now)
	switch {
	case last.Class == frontier.Prerequisite.String():
		return nil
	case !last.At.Before(r.State.Began) && !undated:
		r.State.Queued++ // of this round: it was queued before
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

// requeued is the URL of visits, of which that with the highest number need not be the
// latest: it may have been imported.
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

// lastMods is what the sitemaps that are kept say of each page's last change, by
// the digest of its URL.
func lastMods(a *storage.Archive) map[[sha256.Size]byte]time.Time {
	dates := map[[sha256.Size]byte]time.Time{}
	for visits, err := range a.Histories() {
		if err != nil {
			break // the plan meets it again
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
