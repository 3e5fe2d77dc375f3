package storage

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"curtsy/storage/crawllog"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// rebuildName is the name of the database during a rebuild. It is renamed when it is complete, so that
// a kill leaves nothing incomplete.
const rebuildName = dbName + ".rebuilding"

// ErrNoSegments reports that there are no segments to rebuild crawl.db from.
var ErrNoSegments = errors.New("no segments to rebuild from")

// Rebuild builds a new crawl.db for the archive in dir from its segments: fill gets the archive with an empty
// database and reads the segments with Scan. An existing crawl.db is not touched until fill has succeeded.
// done describes what was set aside.
func Rebuild(dir string, o Options, fill func(*Archive) error) (done []string, err error) {
	defer Guard(&err)()
	o.defaults()
	d, err := openDirectory(dir)
	if err != nil {
		return nil, err
	}
	defer d.close()
	if err := d.beginRebuild(); err != nil {
		return nil, err
	}
	defer d.remove(rebuildName) // on failure the next rebuild does it
	a, err := d.openIndex(rebuildName, o, false)
	if err != nil {
		return nil, err
	}
	defer a.closeDB()  // finishRebuild has closed it before
	a.db.NoSync = true // finishRebuild syncs; after a kill before that the file is useless anyway
	if err := fill(a); err != nil {
		return nil, err
	}
	return a.finishRebuild()
}

// beginRebuild creates an empty database, if no other process uses the archive.
func (d *directory) beginRebuild() error {
	if err := d.lock(true); err != nil {
		return err
	}
	names, err := d.segmentNames()
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s: %w", d.path, ErrNoSegments)
	}
	if err = cmp.Or(err, d.unused(dbName), d.unused(rebuildName)); err != nil {
		return err
	}
	if err := d.remove(rebuildName); err != nil {
		return err
	}
	if err := d.makeDB(rebuildName); err != nil {
		return refused(err)
	}
	return nil
}

// unused returns ErrInUse if another process holds the lock on the file.
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

// Scan reads all segments, oldest first, into the database that a Rebuild fills. It calls found for every
// capture with intact records, in the order of writing, and lost for the URLs of damaged ones. The Report
// says what was read and what was damaged.
func (a *Archive) Scan(found func(*crawllog.Recovered) error, lost func(url string)) (*Report, error) {
	r, entries := &Report{}, map[string]segmentEntry{}
	names, err := a.dir.segmentNames()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		e, err := a.dir.scanSegment(name, r, found, lost)
		if err != nil {
			return nil, err
		}
		if e.Size > 0 {
			entries[name] = e
		}
	}
	return r, a.update(func(tx *bbolt.Tx) error { return putSegments(tx, entries) })
}

// finishRebuild puts the new database in place. The old one and unreadable segments are not deleted but
// renamed.
func (a *Archive) finishRebuild() (done []string, err error) {
	known, err := a.segments()
	if err != nil {
		return nil, err
	}
	names, err := a.dir.segmentNames()
	for _, name := range names {
		if _, ok := known[name]; ok {
			continue
		}
		to, err := a.dir.setAside(segmentFile(name), asideDamaged)
		if err != nil {
			return done, err
		}
		done = append(done, fmt.Sprintf("%s: unreadable, kept as %s", name, to))
	}
	if err = errors.Join(err, a.db.Sync(), a.closeDB()); err != nil {
		return done, diskError(err)
	}
	if st, err := a.dir.stat(dbName); err == nil || st != nil {
		to, err := a.dir.setAside(dbName, asideDamaged)
		if err != nil {
			return done, err
		}
		done = append(done, fmt.Sprintf("the old %s is kept as %s", dbName, to))
	}
	if err := a.dir.rename(rebuildName, dbName); err != nil {
		return done, err
	}
	if err := a.dir.sync(dbName); err != nil {
		return done, err
	}
	a.dir.seal()
	return done, nil
}

// Reasons for setting files aside, which become part of their names.
const (
	asideDamaged = "damaged"
	asideUnknown = "unknown"
)

// asides lists the files that were set aside, and irregular files with the names of segments: none of them
// is read.
func (d *directory) asides() (names []string) {
	for _, sub := range []string{"", warcDir} {
		entries, _ := d.list(sub) // for information only
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
