package storage

import (
	"cmp"
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

// Rebuild makes a new index for the archive in dir, of its segments: fill gets the
// archive with an empty one, and reads them with Scan. The index that is there, if
// any, stays what it is until fill is content.
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
	defer d.remove(rebuildName) // the next rebuild does it again if this fails
	a, err := d.openIndex(rebuildName, o, false)
	if err != nil {
		return nil, err
	}
	a.db.NoSync = true // finishRebuild syncs; a kill before it leaves nothing of use
	if err := a.filled(fill); err != nil {
		a.closeDB()
		return nil, err
	}
	return a.finishRebuild()
}

// beginRebuild makes an empty index, of an archive that nobody else uses.
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
	if err := d.remove(rebuildName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.makeDB(rebuildName); err != nil {
		return refused(err)
	}
	return nil
}

func (a *Archive) filled(fill func(*Archive) error) (err error) {
	defer Guard(&err)()
	return fill(a)
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

// Scan reads all segments for the index that a Rebuild fills, the oldest first, and
// tells of every capture whose records are whole, in the order in which they were
// written; lost hears of the URLs whose records are not. It reports what was read and
// what was damaged.
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

// finishRebuild puts the new index in place. The old one is never deleted: it gets
// another name, and so do the segments in which nothing could be read.
func (a *Archive) finishRebuild() (done []string, err error) {
	defer a.closeDB()
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
