package storage

import (
	"go.etcd.io/bbolt"

	"curtsy/storage/crawllog"
)

// Version is a number that grows with each commit to crawl.db: while it is the
// same, so is everything that the archive says.
func (a *Archive) Version() (version int, err error) {
	defer Guard(&err)()
	err = a.view(func(tx *bbolt.Tx) error {
		version = tx.ID()
		return nil
	})
	return version, err
}

// LastRef names the visit that EachVisit comes to last; zero if there is none.
func (a *Archive) LastRef() (last crawllog.Ref, err error) {
	defer Guard(&err)()
	err = a.view(func(tx *bbolt.Tx) error {
		if k, _ := tx.Bucket(bucketVisits).Cursor().Last(); len(k) == crawllog.RefSize {
			last = crawllog.RefOf(k)
		}
		return nil
	})
	return last, err
}
