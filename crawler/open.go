package crawler

import (
	"curtsy/frontier"
	"curtsy/storage"
)

// openRead opens archive and frontier in dir for reading; close ends it.
func openRead(dir string) (a *storage.Archive, f *frontier.Frontier, err error) {
	if a, err = storage.OpenRead(dir); err != nil {
		return nil, nil, err
	}
	if f, err = frontier.Open(a.DB(), a.Key()); err != nil {
		a.Close()
		return nil, nil, err
	}
	return a, f, nil
}
