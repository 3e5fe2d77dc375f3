package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

func setOf(refs []crawllog.Ref) map[crawllog.Ref]bool {
	set := map[crawllog.Ref]bool{}
	for _, ref := range refs {
		set[ref] = true
	}
	return set
}

// Salvage rewrites every segment that contains damage, with the intact visits only, and removes the damaged
// visits. The same transaction includes what the frontier has staged, and crawl, as in Commit. The old
// segments are removed last, so that intact records exist at every moment. done describes what was rewritten.
func (a *Archive) Salvage(damaged []crawllog.Ref, crawl any) (done []string, err error) {
	report := &Report{}
	segments, extents, err := a.layout(report)
	if err != nil {
		return nil, err
	}
	bad := setOf(damaged)
	moves := map[crawllog.Ref]crawllog.Record{}
	renewed := map[string]segmentEntry{}
	var old []string
	for name, e := range segments {
		if _, err := a.dir.stat(segmentFile(name)); errors.Is(err, ErrIrregular) {
			return nil, err
		}
		if a.dir.intact(name, e, extents[name], bad) {
			continue
		}
		newName, entry, err := a.rewrite(a.dir, name, e, extents[name], bad, moves)
		if err != nil {
			return nil, diskError(err)
		}
		old = append(old, name)
		renewed[newName] = entry
		done = append(done, fmt.Sprintf("%s rewritten as %s", name, newName))
	}
	err = a.update(func(tx *bbolt.Tx) error {
		if err := discard(tx, bad); err != nil {
			return err
		}
		if err := replaceSegments(tx, moves, old, renewed); err != nil {
			return err
		}
		if err := a.putFrontier(tx); err != nil {
			return err
		}
		return putCrawl(tx, crawl)
	})
	if err != nil {
		return nil, refused(err)
	}
	for _, name := range old {
		if err := a.dropOld(name); err != nil {
			return done, err
		}
	}
	slices.Sort(done)
	return done, nil
}

// dropOld removes a segment that has been rewritten.
func (a *Archive) dropOld(name string) error {
	if err := a.dir.remove(segmentFile(name)); err != nil {
		return err
	}
	return a.dir.sync(segmentFile(name))
}

// intact reports whether a segment can stay: its size and its warcinfo record are right, it contains nothing
// bad, and its visits follow each other without gaps.
func (d *directory) intact(name string, e segmentEntry, list []extent, bad map[crawllog.Ref]bool) bool {
	f, err := d.open(segmentFile(name))
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() < e.Size {
		return false
	}
	w := warc.NewReader(io.NewSectionReader(f, 0, st.Size()), 0)
	if h, err := w.Next(); err != nil || h.Type != warc.TypeInfo || h.ID != e.InfoID || w.Finish() != nil {
		return false
	}
	end := w.End()
	for _, x := range list {
		if bad[x.ref] || x.offset != end {
			return false
		}
		end = x.offset + x.length
	}
	return end == e.Size
}

// rewrite copies the visits of a segment, except the bad ones, to a new segment of this archive, after a new
// warcinfo record with the old one's id.
func (a *Archive) rewrite(from *directory, name string, e segmentEntry, list []extent,
	bad map[crawllog.Ref]bool, moves map[crawllog.Ref]crawllog.Record) (string, segmentEntry, error) {
	newName := repairedName(name)
	out, err := a.dir.create(segmentFile(newName), os.O_WRONLY, 0o644)
	for errors.Is(err, fs.ErrExist) { // what a kill left may contain records that exist nowhere else
		newName = repairedName(newName)
		out, err = a.dir.create(segmentFile(newName), os.O_WRONLY, 0o644)
	}
	if err != nil {
		return "", e, err
	}
	defer out.Close()
	s := &segment{name: newName, infoID: e.InfoID, file: out}
	in, err := from.open(segmentFile(name))
	if os.IsNotExist(err) {
		in = nil // the segment is gone
	} else if err != nil {
		return "", e, err
	} else {
		defer in.Close()
	}
	if err := a.rewriteInfo(s, from.readInfo(name), e.InfoID); err != nil {
		return "", e, err
	}
	for _, x := range list {
		if bad[x.ref] || in == nil {
			continue
		}
		at := s.size
		if n, err := io.Copy(s, io.NewSectionReader(in, x.offset, x.length)); err != nil {
			return "", e, err
		} else if n < x.length {
			return "", e, fmt.Errorf("%s at %d: %w", name, x.offset, io.ErrUnexpectedEOF)
		}
		moves[x.ref] = crawllog.Record{Segment: newName, Offset: at, Length: x.length}
	}
	if err := s.sync(); err != nil {
		return "", e, err
	}
	return newName, segmentEntry{Size: s.size, InfoID: e.InfoID}, a.dir.sync(segmentFile(newName))
}

// rewriteInfo writes the warcinfo record of a rewritten segment, with the crawl's settings from the old one.
func (a *Archive) rewriteInfo(s *segment, old Info, id string) error {
	old.archive, old.label = a.id(), a.opts.Label
	old.software, old.description = a.opts.Software, "records of an earlier segment, without those that were removed"
	_, err := s.Write(old.record(s.name, id, time.Now()))
	return err
}

// replaceSegments replaces segments in crawl.db and updates the locations of visits.
func replaceSegments(tx *bbolt.Tx, moves map[crawllog.Ref]crawllog.Record, old []string,
	renewed map[string]segmentEntry) error {
	visits, segments := tx.Bucket(bucketVisits), tx.Bucket(bucketSegments)
	for ref, to := range moves {
		v, err := getVisit(tx, ref)
		if err != nil {
			return err
		}
		to.ID, to.Label = v.Record.ID, v.Record.Label
		v.Record = &to
		if err := putVisit(visits, v); err != nil {
			return err
		}
	}
	for _, name := range old {
		if err := segments.Delete([]byte(name)); err != nil {
			return err
		}
	}
	return putSegments(tx, renewed)
}
