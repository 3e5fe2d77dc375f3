package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"curtsy/storage/crawllog"

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
	aside  []string
}

// OpenRebuild begins a new index for the archive in dir. The one that is
// there, if any, stays what it is until Finish.
func OpenRebuild(dir string, o Options) (r *Rebuild, err error) {
	defer Guard(&err)()
	o.defaults()
	d, err := openDirectory(dir)
	if err != nil {
		return nil, err
	}
	defer d.closeOn(&err)
	if err := d.lockToWrite(); err != nil {
		return nil, err
	}
	names, err := d.segmentNames()
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: %w", d.path, ErrNoSegments)
	}
	for _, used := range []string{dbName, rebuildName} {
		if err := d.unused(used); err != nil {
			return nil, err
		}
	}
	if err := d.remove(rebuildName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := d.makeDB(rebuildName); err != nil {
		return nil, refused(err)
	}
	a, err := d.openIndex(rebuildName, o, false)
	if err != nil {
		return nil, err
	}
	a.db.NoSync = true // Finish syncs; a kill before it leaves nothing of use
	return &Rebuild{Archive: a}, nil
}

// unused says whether no other process holds the file, whatever is in it.
func (d *directory) unused(name string) error {
	if st, err := d.stat(name); err != nil || st.Size() == 0 {
		return nil
	}
	db, _, err := d.openDB(name, bbolt.Options{Timeout: lockTimeout, ReadOnly: true})
	if errors.Is(err, berrors.ErrTimeout) {
		return fmt.Errorf("%s: %w", d.file(name), ErrInUse)
	}
	if err == nil {
		return db.Close()
	}
	return nil
}

// Scan reads all segments, the oldest first, and tells of every capture whose
// records are whole, in the order in which they were written; lost hears of
// the URLs whose records are not.
func (r *Rebuild) Scan(found func(*crawllog.Recovered) error, lost func(url string)) error {
	entries := map[string]segmentEntry{}
	names, err := r.dir.segmentNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		e, err := r.dir.scanSegment(name, &r.Report, found, lost)
		if err != nil {
			return err
		}
		if e.Size == 0 {
			r.aside = append(r.aside, name)
			continue
		}
		entries[name] = e
	}
	return r.update(func(tx *bbolt.Tx) error {
		for name, e := range entries {
			if err := putSegment(tx, name, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// Finish puts the new index in place. The old one is never deleted: it gets
// another name, and so do the segments in which nothing could be read.
func (r *Rebuild) Finish() (done []string, err error) {
	for _, name := range r.aside {
		to, err := r.dir.setAside(segmentFile(name), asideDamaged)
		if err != nil {
			return done, err
		}
		done = append(done, fmt.Sprintf("%s: unreadable, kept as %s", name, to))
	}
	if err := r.db.Sync(); err != nil {
		return done, diskError(err)
	}
	defer r.dir.close()
	if err := r.closeDB(); err != nil {
		return done, diskError(err)
	}
	if st, err := r.dir.stat(dbName); err == nil || st != nil {
		to, err := r.dir.setAside(dbName, asideDamaged)
		if err != nil {
			return done, err
		}
		done = append(done, fmt.Sprintf("the old %s is kept as %s", dbName, to))
	}
	if err := r.dir.rename(rebuildName, dbName); err != nil {
		return done, err
	}
	if err := r.dir.sync(dbName); err != nil {
		return done, err
	}
	r.dir.seal()
	return done, nil
}

// Abandon ends a rebuild that failed, and leaves all as it was.
func (r *Rebuild) Abandon() {
	defer r.dir.close()
	r.closeDB()
	_ = r.dir.remove(rebuildName) // the next rebuild does it again if this fails
}

// Why a file is set aside, as its name says.
const (
	asideDamaged = "damaged"
	asideUnknown = "unknown"
)

// asides are the files that were set aside, and what lies in the place of a
// segment and is no regular file: nothing reads it.
func (d *directory) asides() (names []string) {
	for _, sub := range []string{"", warcDir} {
		entries, _ := d.list(sub) // only to tell of them
		for _, e := range entries {
			name := e.Name()
			if strings.Contains(name, "."+asideDamaged) || strings.Contains(name, "."+asideUnknown) ||
				isSegment(name) && !e.Type().IsRegular() {
				names = append(names, filepath.Join(sub, name))
			}
		}
	}
	return names
}
