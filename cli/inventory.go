package cli

import (
	"errors"
	"fmt"

	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/internal/weburl"
	"curtsy/publish/inventory"
	"curtsy/storage"
)

// opened is an archive opened for reading.
type opened struct {
	*storage.Archive
	f      *frontier.Frontier // nil before readFrontier
	state  status.State
	config config
	seed   weburl.URL
}

// openBoth opens an archive with its frontier.
func openBoth(dir string) (*opened, error) {
	o, err := openShown(dir)
	if err != nil {
		return nil, err
	}
	if err := o.readFrontier(); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// readFrontier reads the frontier, if it was not read yet.
func (o *opened) readFrontier() (err error) {
	if o.f == nil {
		o.f, err = o.Frontier()
	}
	return archiveError(corrupt(err), o.Dir())
}

// openShown opens an archive without its frontier, which takes memory per URL.
func openShown(dir string) (*opened, error) {
	a, err := storage.OpenRead(dir)
	if err != nil {
		return nil, archiveError(err, dir)
	}
	o := &opened{Archive: a, config: defaults()}
	if err := o.read(); err != nil {
		a.Close()
		return nil, archiveError(err, dir)
	}
	return o, nil
}

// read reads seed, state and settings.
func (o *opened) read() error {
	o.state.Settings = &o.config
	ok, err := o.Crawl(&o.state)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", o.Dir(), storage.ErrNone)
	}
	if err == nil && o.state.Holds == nil {
		err = o.state.CountHeld(o.Archive)
	}
	if err != nil {
		return err
	}
	if o.seed, err = weburl.Parse(o.state.Seed); err != nil {
		return &storage.DamageError{File: "crawl.db", What: "its seed cannot be decoded"}
	}
	return nil
}

// corrupt converts frontier.ErrCorrupt to a DamageError of crawl.db.
func corrupt(err error) error {
	if errors.Is(err, frontier.ErrCorrupt) {
		return &storage.DamageError{File: "crawl.db", What: err.Error()}
	}
	return err
}

// known yields all URLs of the frontier (inventory.KnownOf).
func (o *opened) known(each func(inventory.Known) error) error {
	return corrupt(inventory.KnownOf(o.f)(each))
}

// sayIncomplete prints a note if the crawl is not finished.
func (o *opened) sayIncomplete(u *ui) {
	if !o.state.Finished {
		u.say("the crawl is not complete (%s); this is what the archive has so far", o.unfinished())
	}
}
