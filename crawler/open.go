package crawler

import (
	"errors"

	"curtsy/frontier"
	"curtsy/storage"
)

// openRead opens archive and frontier in dir for reading; closing the archive
// ends it.
func openRead(dir string) (a *storage.Archive, f *frontier.Frontier, err error) {
	if a, err = storage.OpenRead(dir); err != nil {
		return nil, nil, err
	}
	if f, err = a.Frontier(); err != nil {
		a.Close()
		return nil, nil, err
	}
	return a, f, nil
}

// damaged makes what the frontier finds wrong in crawl.db a DamageError.
func damaged(err error) error {
	if errors.Is(err, frontier.ErrCorrupt) {
		return &storage.DamageError{File: "crawl.db", What: err.Error()}
	}
	return err
}
