// Package verify checks whether an archive is consistent, and repairs it.
package verify

import (
	"fmt"
	"log/slog"

	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// Archive checks the archive in dir without changing it. progress is passed to
// storage.Archive.Verify.
func Archive(dir string, progress func(read, of int64)) (r *storage.Report, err error) {
	defer storage.Guard(&err)()
	a, err := storage.OpenRead(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	r, err = a.Verify(progress)
	if err != nil {
		return r, err
	}
	_, err = audited(a, r)
	return r, err
}

// audited opens the frontier and compares it with the visits and its own totals. Problems, including
// that it cannot be opened, are added to r; only disk errors are returned.
func audited(a *storage.Archive, r *storage.Report) (*frontier.Frontier, error) {
	problem := func(url, what string) {
		r.Problems = append(r.Problems, storage.DamageError{File: "crawl.db", Offset: -1, URL: url, What: what})
	}
	f, err := a.Frontier()
	if err == nil {
		err = audit(f, a, r, problem)
	}
	if err == nil || storage.IsDisk(err) {
		return f, err
	}
	problem("", err.Error())
	return f, nil
}

func audit(f *frontier.Frontier, a *storage.Archive, r *storage.Report, problem func(url, what string)) error {
	got, err := f.Audit(func(u frontier.Found) {
		if u.Reason.Rule == judge.Unreadable {
			problem(u.URL.String(), u.Reason.String())
		} else if u.State == frontier.StateFetched && u.Class != frontier.Prerequisite && a.LastN(u.ID) == 0 {
			problem(u.URL.String(), "it was fetched, but no visit is recorded")
		}
	})
	if err != nil {
		return err
	}
	if want := f.Counts(); want.Discovered != got.Discovered || want.Fetched != got.Fetched ||
		want.Failed != got.Failed || want.Disregarded != got.Disregarded {
		problem("", fmt.Sprintf("the totals do not match its URLs: %d discovered, %d fetched, %d failed, %d "+
			"disregarded were counted", got.Discovered, got.Fetched, got.Failed, got.Disregarded))
	}
	var st status.State
	known, err := a.Crawl(&st)
	if err != nil {
		return err
	}
	if (!known || got.Discovered == 0) && r.Visits > 0 {
		problem("", "the crawl's own entry, or the frontier, is missing")
	} else if st.Round != nil && st.Round.N != len(st.Rounds) {
		problem("", "when the rounds began is missing")
	} else if st.Visits != r.Visits {
		problem("", fmt.Sprintf("%d visits were committed, %d were found", st.Visits, r.Visits))
	}
	return nil
}

// FirstSeed guesses the seed of an archive that does not state it: the first page without a referring
// page.
func FirstSeed(dir string) (weburl.URL, bool) {
	for c := range storage.Captures(dir) {
		u, err := weburl.ParsePage(c.Visit.URL)
		if err == nil && c.Via == "" && u.Target() != rules.Location {
			return u, true
		}
	}
	return weburl.URL{}, false
}

// Repair removes damaged records from the archive and requeues their URLs, so that resume fetches them.
// It returns a description of what it did. If crawl.db is damaged, it changes nothing and returns the
// damage: see crawler/rebuild.
func Repair(dir string, logger *slog.Logger) (done []string, err error) {
	defer storage.Guard(&err)()
	a, err := storage.Open(dir, storage.Options{Logger: logger, Mend: true})
	if err != nil {
		return nil, err
	}
	defer a.Close()
	r, err := a.Verify(nil)
	if err != nil {
		return nil, err
	}
	f, err := audited(a, r)
	if err != nil {
		return nil, err
	}
	for _, p := range r.Problems {
		if p.Index() {
			return nil, &p
		}
	}
	if len(r.Problems) == 0 {
		return nil, nil
	}
	again := lastOf(a, r.Damaged)
	for _, ref := range again {
		f.Requeue(ref.URLID, ref.N-1)
	}
	var st status.State
	if _, err := a.Crawl(&st); err != nil {
		return nil, err
	}
	st.Finished, st.AskRobots = st.Finished && len(again) == 0, true // a robots.txt may be among the damaged visits
	if err := st.Recount(a, r.Damaged); err != nil {
		return nil, err
	}
	done, err = a.Salvage(r.Damaged, st)
	if len(r.Damaged) == 0 {
		return done, err
	}
	if kept := len(r.Damaged) - len(again); kept > 0 {
		done = append(done, legible.Count(kept, "damaged visit")+
			" followed by a later one to the same URL, which is kept")
	}
	if len(again) > 0 {
		done = append(done, fmt.Sprintf("%s damaged, queued again: curtsy resume %s",
			legible.Count(len(again), "visit"), dir))
	}
	return done, err
}

// lastOf returns those of the visits that are the last of their URL. A later visit decides the state of
// the URL, and the numbering of visits must not change.
func lastOf(a *storage.Archive, visits []crawllog.Ref) (last []crawllog.Ref) {
	for _, ref := range visits {
		if a.LastN(ref.URLID) == ref.N {
			last = append(last, ref)
		}
	}
	return last
}
