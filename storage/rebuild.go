package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// rebuildName is the index while it is being rebuilt. It takes its place when
// it is whole, so that a kill leaves nothing half done.
const rebuildName = dbName + ".rebuilding"

// ErrNoSegments says that there is nothing to rebuild an index from.
var ErrNoSegments = errors.New("no segments to rebuild from")

// Rebuild is an archive whose index is made anew, of its segments.
type Rebuild struct {
	*Archive
	Report Report // what was read and what was damaged
	met    *metURLs
	aside  []string
	gaps   bool
}

// OpenRebuild begins a new index for the archive in dir. The one that is
// there, if any, stays what it is until Finish.
func OpenRebuild(dir string, o Options) (r *Rebuild, err error) {
	defer Guard(&err)()
	o.defaults()
	if len(segmentNames(dir)) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoSegments)
	}
	path := filepath.Join(dir, rebuildName)
	for _, used := range []string{filepath.Join(dir, dbName), path} {
		if err := unused(used); err != nil {
			return nil, err
		}
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	if err := makeDB(path); err != nil {
		return nil, refused(err)
	}
	a, err := openFile(dir, rebuildName, o, false)
	if err != nil {
		return nil, err
	}
	a.db.NoSync = true // Finish syncs; a kill before it leaves nothing of use
	met, err := openMetURLs(dir)
	if err != nil {
		a.closeDB()
		return nil, refused(err)
	}
	return &Rebuild{Archive: a, met: met}, nil
}

// unused says whether no other process holds the file, whatever is in it.
func unused(path string) error {
	if st, err := os.Stat(path); err != nil || st.Size() == 0 {
		return nil
	}
	db, err := openDB(path, bbolt.Options{Timeout: lockTimeout, ReadOnly: true})
	if errors.Is(err, berrors.ErrTimeout) {
		return fmt.Errorf("%s: %w", path, ErrInUse)
	}
	if err == nil {
		return db.Close()
	}
	return nil
}

// Scan reads all segments, the oldest first, and tells of every capture whose
// records are whole, in the order in which they were written; lost hears of
// the URLs whose records are not.
func (r *Rebuild) Scan(found func(*Capture) error, lost func(url string)) error {
	entries := map[string]segmentEntry{}
	for _, name := range segmentNames(r.dir) {
		before := len(r.Report.Problems)
		e, err := scanSegment(r.dir, name, &r.Report, found, lost)
		if err != nil {
			return err
		}
		r.gaps = r.gaps || len(r.Report.Problems) > before
		if e.Size == 0 {
			r.aside = append(r.aside, name)
			continue
		}
		entries[name] = e
	}
	return r.db.Update(func(tx *bbolt.Tx) error {
		for name, e := range entries {
			if err := putSegment(tx, name, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// Advance opens the new frontier once more, as it is on disk now, and moves its
// queues behind what is finished.
func (r *Rebuild) Advance() error {
	r.urls = nil
	f, err := r.Frontier()
	if err != nil {
		return err
	}
	return f.Advance()
}

// Passed notes that records of the segments belong to no visit after all.
func (r *Rebuild) Passed() { r.gaps = true }

// Gaps says whether segments hold what belongs to no visit, so that they are
// to be written anew.
func (r *Rebuild) Gaps() bool { return r.gaps }

// Finish puts the new index in place. The old one is never deleted: it gets
// another name, and so do the segments in which nothing could be read.
func (r *Rebuild) Finish() (done []string, err error) {
	r.met.close()
	for _, name := range r.aside {
		to, err := setAside(filepath.Join(r.dir, warcDir, name), asideDamaged)
		if err != nil {
			return done, err
		}
		done = append(done, fmt.Sprintf("%s: nothing in it can be read; it is kept as %s", name, filepath.Base(to)))
	}
	if err := r.db.Sync(); err != nil {
		return done, &DiskError{err}
	}
	if err := r.Close(); err != nil {
		return done, &DiskError{err}
	}
	path := filepath.Join(r.dir, dbName)
	if _, err := os.Lstat(path); err == nil {
		to, err := setAside(path, asideDamaged)
		if err != nil {
			return done, err
		}
		done = append(done, fmt.Sprintf("the old %s is kept as %s", dbName, filepath.Base(to)))
	}
	if err := os.Rename(filepath.Join(r.dir, rebuildName), path); err != nil {
		return done, err
	}
	return done, syncDir(r.dir)
}

// Abandon ends a rebuild that failed, and leaves all as it was.
func (r *Rebuild) Abandon() {
	r.met.close()
	r.Close()
	os.Remove(filepath.Join(r.dir, rebuildName))
}

// Why a file is set aside, as its name says.
const (
	asideDamaged = "damaged"
	asideUnknown = "unknown"
)

// asides are the files that were set aside.
func asides(dir string) (names []string) {
	for _, sub := range []string{"", warcDir} {
		entries, _ := os.ReadDir(filepath.Join(dir, sub)) // only to tell of them
		for _, e := range entries {
			if strings.Contains(e.Name(), "."+asideDamaged) || strings.Contains(e.Name(), "."+asideUnknown) {
				names = append(names, filepath.Join(sub, e.Name()))
			}
		}
	}
	return names
}

// setAside gives a file a name that nothing reads: ".what", or ".what-1" and so
// on where that is taken.
func setAside(path, what string) (to string, err error) {
	to = path + "." + what
	for n := 1; ; n++ {
		if _, err := os.Lstat(to); os.IsNotExist(err) {
			break
		} else if err != nil {
			return to, err
		}
		to = fmt.Sprintf("%s.%s-%d", path, what, n)
	}
	if err := os.Rename(path, to); err != nil {
		return to, err
	}
	return to, syncDir(filepath.Dir(path))
}
