package storage

import (
	"go.etcd.io/bbolt"

	"curtsy/frontier"
)

// Frontier returns the archive's frontier, which is opened on the first call. Its staged changes are part of
// the next Commit.
func (a *Archive) Frontier() (*frontier.Frontier, error) {
	a.opening.Lock()
	defer a.opening.Unlock()
	if a.urls != nil {
		return a.urls, nil
	}
	f, err := frontier.Open(a.view, a.key, a.db.IsReadOnly())
	if err != nil {
		return nil, ofIndex(err)
	}
	a.urls = f
	return f, nil
}

// ofIndex turns an error in a bucket of crawl.db into a DamageError.
func ofIndex(err error) error {
	if err == nil || IsDisk(err) || isDamage(err) {
		return err
	}
	return &DamageError{File: dbName, What: err.Error()}
}

// putFrontier writes the staged changes of the frontier.
func (a *Archive) putFrontier(tx *bbolt.Tx) error {
	if a.urls == nil {
		return nil
	}
	return a.urls.Flush(tx)
}
