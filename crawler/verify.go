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
	if _, err := frontier.Open(a, a.Key()); err != nil {
		r.Problems = append(r.Problems, storage.Problem{File: "crawl.db", Offset: -1, What: err.Error()})
	}
	return r, nil
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
	f, err := frontier.Open(a, a.Key())
	if err != nil {
		return nil, &storage.DamageError{File: "crawl.db", What: err.Error()}
	}
	damaged, err := a.Damaged(r)
	if err != nil || len(r.Problems) == 0 {
		return nil, err
	}
	done, err = a.Salvage(damaged, func(tx *bbolt.Tx) error {
		for _, ref := range damaged {
			if err := f.Requeue(tx, ref.URLID, ref.N-1); err != nil {
				return err
			}
		}
		var st State
		if _, err := a.Crawl(&st); err != nil {
			return err
		}
		st.Finished, st.AskRobots = st.Finished && len(damaged) == 0, true // a robots.txt may be among them
		if err := st.recount(tx); err != nil {
			return err
		}
		return storage.PutCrawl(tx, st)
	})
	if len(damaged) == 0 {
		return done, err
	}
	return append(done, fmt.Sprintf("%d visits were damaged: their URLs are queued again; curtsy resume %s fetches them", len(damaged), dir)), err
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
