package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"curtsy/storage/crawllog"

	"go.etcd.io/bbolt"
)

// pruningEnd is appended to the name of an unfinished archive. bulkyName is the name of its crawl.db before
// it is compacted.
const (
	pruningEnd = ".pruning"
	bulkyName  = dbName + ".bulky"
)

// Prune writes a copy of this archive, which must not be in use by a writer, to the new directory to, without
// the visits in drop, to which no other visit may refer. Records are copied unchanged. crawl is the state
// of the crawl, as in Commit. The copy gets its name when check, which is called with its temporary
// directory, succeeds; else it is removed.
func (a *Archive) Prune(ctx context.Context, to string, drop map[crawllog.Ref]bool, o Options, crawl any,
	check func(dir string) error) (err error) {
	defer Guard(&err)()
	if a.IsLive() {
		return fmt.Errorf("%s: %w", a.dir.path, ErrInUse)
	}
	o.defaults()
	to = filepath.Clean(to)
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, &fs.PathError{Op: "prune", Path: to, Err: fs.ErrExist})
	}
	dir := to + pruningEnd
	if err := clearPruning(dir); err != nil {
		return err
	}
	if err = a.pruneTo(ctx, dir, drop, o, crawl); err == nil {
		err = check(dir)
	}
	if err != nil {
		_ = clearPruning(dir) // on failure the next Prune does it
		return err
	}
	return nameDirectory(dir, to)
}

// pruneTo fills the directory: a copy of crawl.db, then each segment with its entry in crawl.db, and finally
// the compacted crawl.db.
func (a *Archive) pruneTo(ctx context.Context, dir string, drop map[crawllog.Ref]bool, o Options, crawl any) error {
	d, err := makeDirectory(dir)
	if err != nil {
		return err
	}
	defer d.close()
	if err := d.lock(true); err != nil {
		return err
	}
	if err := d.copyDB(a, bulkyName); err != nil {
		return err
	}
	b, err := d.openIndex(bulkyName, o, false)
	if err != nil {
		return err
	}
	b.db.NoSync = true // after a kill the copy is useless anyway
	err = b.without(ctx, a, drop, crawl)
	if err == nil {
		err = d.compact(b)
	}
	if err = errors.Join(err, b.closeDB()); err != nil {
		return err
	}
	if err := d.remove(bulkyName); err != nil {
		return err
	}
	return d.sync(dbName)
}

// nameDirectory gives a finished archive its name.
func nameDirectory(dir, to string) error {
	d, err := openDirectory(dir)
	if err != nil {
		return err
	}
	defer d.close()
	if err := os.Rename(dir, to); err != nil {
		return err
	}
	d.path = to
	return d.named()
}

// clearPruning removes what a killed Prune left, but no directory with other contents.
func clearPruning(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	d, err := openDirectory(path)
	if err != nil {
		return err
	}
	defer d.close()
	for _, sub := range []string{"", warcDir} {
		entries, err := d.list(sub)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := e.Name()
			if sub == "" && name != warcDir && !strings.HasPrefix(name, dbName) || sub == warcDir && !isSegment(name) {
				return fmt.Errorf("%s holds %s, which curtsy did not write: %w", path, name, fs.ErrExist)
			}
		}
	}
	return os.RemoveAll(path)
}

func (d *directory) copyDB(a *Archive, name string) error {
	f, err := d.create(name, os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = a.view(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(f)
		return err
	})
	return errors.Join(err, f.Close())
}

// compactBatch is how many octets one transaction of a compaction copies.
const compactBatch = 1 << 20

// compact writes crawl.db as a compacted copy of another database.
func (d *directory) compact(from *Archive) error {
	db, _, err := d.openDB(dbName, bbolt.Options{Timeout: lockTimeout, NoStatistics: true, NoSync: true,
		FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = guarded(func(*reach) error { return bbolt.Compact(db, from.db, compactBatch) })
	if err == nil {
		err = db.Sync()
	}
	return errors.Join(err, db.Close())
}

// without removes visits from a database and writes the segments it refers to.
func (b *Archive) without(ctx context.Context, from *Archive, drop map[crawllog.Ref]bool, crawl any) error {
	report := &Report{}
	segments, extents, err := from.layout(report)
	if err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return &report.Problems[0]
	}
	if err := from.present(segments); err != nil {
		return err
	}
	newest := ""
	for name := range segments {
		if newest == "" || age(name) > age(newest) {
			newest = name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(segments)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.renew(from, name, segments[name], extents[name], drop, name == newest); err != nil {
			return err
		}
	}
	return b.update(func(tx *bbolt.Tx) error {
		if err := discard(tx, drop); err != nil {
			return err
		}
		return putCrawl(tx, crawl)
	})
}

// renew writes what is kept of a segment: all of it under the same name, else its kept records after a new
// warcinfo record. A segment of which nothing is kept is left out, except the newest, which has the crawl's
// settings.
func (b *Archive) renew(from *Archive, name string, e segmentEntry, list []extent, drop map[crawllog.Ref]bool,
	newest bool) error {
	kept := 0
	for _, x := range list {
		if !drop[x.ref] {
			kept++
		}
	}
	moves, renewed := map[crawllog.Ref]crawllog.Record{}, map[string]segmentEntry{}
	var err error
	switch {
	case kept == len(list):
		renewed[name] = e
		err = b.copySegment(from, name, e.Size)
	case kept > 0 || newest:
		to, entry := "", e
		to, entry, err = b.rewrite(from.dir, name, e, list, drop, moves)
		renewed[to] = entry
	}
	if err != nil {
		return err
	}
	return b.update(func(tx *bbolt.Tx) error { return replaceSegments(tx, moves, []string{name}, renewed) })
}

// copySegment copies the committed part of a segment.
func (b *Archive) copySegment(from *Archive, name string, size int64) error {
	in, err := from.dir.open(segmentFile(name))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := b.dir.create(segmentFile(name), os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.CopyN(out, in, size); err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return b.dir.sync(segmentFile(name))
}
