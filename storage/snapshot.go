package storage

import (
	"io"
	"maps"
	"slices"

	"go.etcd.io/bbolt"

	"curtsy/storage/crawllog"
)

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
