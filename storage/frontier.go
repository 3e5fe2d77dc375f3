package storage

import (
	"errors"

	"go.etcd.io/bbolt"

	"curtsy/frontier"
)

// Frontier is the archive's frontier, opened when it is first asked for. What
// it has staged becomes part of the next Commit.
func (a *Archive) Frontier() (*frontier.Frontier, error) {
	a.opening.Lock()
	defer a.opening.Unlock()
	if a.urls != nil {
		return a.urls, nil
	}
	open := frontier.Open
	if a.db.IsReadOnly() {
		open = frontier.OpenRead
	}
	f, err := open(a.view, a.key)
	if err != nil {
		return nil, ofIndex(err)
	}
	a.urls = f
	return f, nil
}

// ofIndex makes what is wrong with a bucket of crawl.db a DamageError.
func ofIndex(err error) error {
	var damage *DamageError
	if err == nil || IsDisk(err) || errors.As(err, &damage) {
		return err
	}
	return &DamageError{File: dbName, What: err.Error()}
}

// putFrontier writes what the frontier has staged.
func (a *Archive) putFrontier(tx *bbolt.Tx) error {
	if a.urls == nil {
		return nil
	}
	return a.urls.Flush(tx)
}

// publishFrontier makes what was committed available.
func (a *Archive) publishFrontier() {
	if a.urls != nil {
		a.urls.Publish()
	}
}
