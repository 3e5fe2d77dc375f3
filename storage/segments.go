package storage

import (
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"go.etcd.io/bbolt"

	"curtsy/storage/crawllog"
)

// openedSegments are segments that stay open until the archive is closed, as records are mostly read in
// order.
type openedSegments struct {
	mu  sync.Mutex
	all map[string]openedSegment
}

type openedSegment struct {
	file           *os.File
	foreign, stays bool
}

// maxOpened is how many segments of an archive stay open.
const maxOpened = 16

// segment opens a segment. It stays open only if it cannot be written, truncated or replaced meanwhile.
func (o *openedSegments) segment(a *Archive, name string) (s openedSegment, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.all[name]; ok {
		return s, nil
	}
	if s.file, s.foreign, err = a.openSegment(name); err != nil {
		return s, err
	}
	if s.stays = a.live == nil && a.db.IsReadOnly() && !s.foreign && len(o.all) < maxOpened; s.stays {
		o.all[name] = s
	}
	return s, nil
}

func (o *openedSegments) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.all {
		s.file.Close()
	}
	clear(o.all)
}

// OpenSegment opens a segment or linked file, for copying records as they are; their location is the visit's
// Record. Data after the last committed visit may still be truncated. The caller must close it.
func (a *Archive) OpenSegment(name string) (*os.File, error) {
	if !isSegment(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, _, err := a.openSegment(name)
	return f, err
}

// SegmentBytes returns the committed octets of all segments.
func (a *Archive) SegmentBytes() (n int64, err error) {
	known, err := a.segments()
	for _, e := range known {
		n += e.Size
	}
	return n, err
}

// SegmentSize is the committed size of a segment, in octets.
type SegmentSize struct {
	Name string
	Size int64
}

// LastCommit returns the number of the last commit to crawl.db, which increases with each: as long as it is the
// same, the archive is unchanged. last is the last visit that Visits returns; zero if there is none.
func (a *Archive) LastCommit() (n int, last crawllog.Ref, err error) {
	defer Guard(&err)()
	err = a.view(func(tx *bbolt.Tx) error {
		if k, _ := tx.Bucket(bucketVisits).Cursor().Last(); len(k) == crawllog.RefSize {
			last = crawllog.RefOf(k)
		}
		n = tx.ID()
		return nil
	})
	return n, last, err
}

// Snapshot writes crawl.db as of one commit to w, and lists the segments of that commit by age. Together
// with these, each truncated to its size, it is a complete archive. It works while a crawl writes.
func (a *Archive) Snapshot(w io.Writer) (list []SegmentSize, err error) {
	defer Guard(&err)()
	known := map[string]segmentEntry{}
	err = a.view(func(tx *bbolt.Tx) error {
		if err := a.segmentsIn(tx, known); err != nil {
			return err
		}
		_, err := tx.WriteTo(w)
		return err
	})
	for _, name := range slices.SortedFunc(maps.Keys(known), byAgeOfSegment) {
		list = append(list, SegmentSize{name, known[name].Size})
	}
	return list, err
}
