package storage

import "go.etcd.io/bbolt"

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

// LastRef names the visit that EachWanted comes to last; zero if there is none.
func (a *Archive) LastRef() (last Ref, err error) {
	defer Guard(&err)()
	err = a.view(func(tx *bbolt.Tx) error {
		if k, _ := tx.Bucket(bucketVisits).Cursor().Last(); len(k) == refSize {
			last = refOf(k)
		}
		return nil
	})
	return last, err
}

// EachWanted walks the names of all visits in the order of EachVisit, and reads
// and visits those that are wanted: what keeps an index of visits up to date
// need not read all of them.
func (a *Archive) EachWanted(wanted func(Ref) bool, visit func(*Visit) error) (err error) {
	defer Guard(&err)()
	return a.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketVisits).ForEach(func(k, b []byte) error {
			if len(k) != refSize {
				return &DamageError{File: dbName, What: "the key of a visit cannot be decoded"}
			}
			if !wanted(refOf(k)) {
				return nil
			}
			v, err := readVisit(k, b)
			if err != nil {
				return err
			}
			return visit(v)
		})
	})
}
