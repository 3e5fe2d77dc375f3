package crawler

import (
	"errors"

	"curtsy/frontier"
	"curtsy/storage"
)

// openRead opens archive and frontier in dir for reading; close ends it.
func openRead(dir string) (a *storage.Archive, f *frontier.Frontier, err error) {
	if a, err = storage.OpenRead(dir); err != nil {
		return nil, nil, err
	}
	if f, err = openFrontier(a); err != nil {
		a.Close()
		return nil, nil, err
	}
	return a, f, nil
}

func openFrontier(a *storage.Archive) (*frontier.Frontier, error) {
	f, err := frontier.Open(a, a.Key())
	var damage *storage.DamageError
	if err != nil && !storage.IsDisk(err) && !errors.As(err, &damage) {
		err = &storage.DamageError{File: "crawl.db", What: err.Error()}
	}
	return f, err
}

// damaged makes what the frontier finds wrong in crawl.db a DamageError.
func damaged(err error) error {
	if errors.Is(err, frontier.ErrCorrupt) {
		return &storage.DamageError{File: "crawl.db", What: err.Error()}
	}
	return err
}
