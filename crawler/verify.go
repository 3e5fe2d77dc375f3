package crawler

import (
	"errors"
	"fmt"
	"log/slog"

	"go.etcd.io/bbolt"

	"curtsy/frontier"
	"curtsy/storage"
)

// Verify checks the archive in dir. It opens it as a crawl would, which cuts
// off what was in flight; an archive that cannot be opened so is read as it is.
func Verify(dir string) (r *storage.Report, err error) {
	defer storage.Guard(&err)()
	if err := storage.Look(dir); err != nil {
		return nil, err
	}
	a, err := storage.Open(dir, storage.Options{})
	var damage *storage.DamageError
	if err != nil && (errors.As(err, &damage) || !isInUse(err)) {
		a, err = storage.OpenRead(dir)
	}
	if err != nil {
		return nil, err
	}
	defer a.Close()
	r, err = a.Verify(nil)
	if err != nil {
		return r, err
	}
	_, err = audit(a, r)
	if err != nil && !storage.IsDisk(err) {
		r.Problems = append(r.Problems, storage.Problem{File: "crawl.db", Offset: -1, What: err.Error()})
		err = nil
	}
	return r, err
}

// audited is what an audit of the frontier found to be mended.
type audited struct {
	frontier *frontier.Frontier
	again    []frontier.Found // fetched, and no visit is there
	counts   frontier.Counts
}

// audit holds the frontier against the visits and its own totals.
func audit(a *storage.Archive, r *storage.Report) (*audited, error) {
	f, err := openFrontier(a)
	if err != nil {
		return nil, err
	}
	found := &audited{frontier: f}
	problem := func(url, what string) {
		r.Problems = append(r.Problems, storage.Problem{File: "crawl.db", Offset: -1, URL: url, What: what})
	}
	err = a.View(func(tx *bbolt.Tx) error {
		found.counts, err = f.Audit(func(u frontier.Found) {
			if u.Reason == frontier.ReasonUnreadable || u.State == frontier.StateFetched && u.Class != frontier.Prerequisite && !storage.Visited(tx, u.ID) {
				found.again = append(found.again, u)
				problem(u.URL.String(), "its state does not read back, or its visits are missing")
			}
		})
		return err
	})
	if n := f.Counts(); err == nil && (n.Fetched != found.counts.Fetched || n.Failed != found.counts.Failed) {
		problem("", fmt.Sprintf("%d URLs were fetched and %d failed, but %d and %d are there", n.Fetched, n.Failed, found.counts.Fetched, found.counts.Failed))
	}
	var st State
	if err == nil {
		_, err = a.Crawl(&st)
	}
	if err == nil && st.Visits != r.Visits {
		problem("", fmt.Sprintf("%d visits were committed, %d are there", st.Visits, r.Visits))
	}
	return found, err
}

// Repair takes damaged records out of the archive and queues their URLs
// again, so that resume fetches them. It says what it did.
func Repair(dir string, logger *slog.Logger) (done []string, err error) {
	defer storage.Guard(&err)()
	a, err := storage.OpenSalvage(dir, storage.Options{Logger: logger})
	if err != nil {
		return nil, err
	}
	defer a.Close()
	r, err := a.Verify(nil)
	if err != nil {
		return nil, err
	}
	found, err := audit(a, r)
	if err != nil {
		return nil, err
	}
	f := found.frontier
	damaged, err := a.Damaged(r)
	if err != nil || len(r.Problems) == 0 {
		return nil, err
	}
	done, err = a.Salvage(damaged, func(tx *bbolt.Tx) error {
		if err := f.Recount(tx, found.counts); err != nil {
			return err
		}
		for _, ref := range damaged {
			if err := f.Requeue(tx, ref.URLID, ref.N-1); err != nil {
				return err
			}
		}
		for _, u := range found.again {
			if err := f.Requeue(tx, u.ID, 0); err != nil {
				return err
			}
		}
		var st State
		if _, err := a.Crawl(&st); err != nil {
			return err
		}
		st.Finished, st.AskRobots = st.Finished && len(damaged)+len(found.again) == 0, true // a robots.txt may be among them
		if err := st.recount(tx); err != nil {
			return err
		}
		return storage.PutCrawl(tx, st)
	})
	n := len(damaged) + len(found.again)
	if n == 0 {
		return done, err
	}
	return append(done, fmt.Sprintf("%d visits were damaged: their URLs are queued again; curtsy resume %s fetches them", n, dir)), err
}

// recount makes the totals those of the visits that are there.
func (s *State) recount(tx *bbolt.Tx) error {
	s.Visits, s.Pages, s.Bytes, s.Kept, s.Withheld, s.Revisits = 0, 0, 0, 0, 0, 0
	var page uint64 // the last one counted
	return storage.EachVisit(tx, func(v *storage.Visit) error {
		s.count(v, v.Class == "page" && v.Status > 0 && v.URLID != page)
		if v.Class == "page" && v.Status > 0 {
			page = v.URLID
		}
		return nil
	})
}
