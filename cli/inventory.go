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

// opened is an archive opened for reading, with its frontier.
type opened struct {
	*storage.Archive
	f      *frontier.Frontier
	state  status.State
	config config
	seed   weburl.URL
}

// openBoth opens an archive with its frontier.
func openBoth(dir string) (*opened, error) { return open(dir, newOpened) }

// openShown opens an archive without its frontier, which takes memory per URL.
func openShown(dir string) (*opened, error) { return open(dir, newShown) }

func open(dir string, read func(*storage.Archive, string) (*opened, error)) (*opened, error) {
	a, err := storage.OpenRead(dir)
	if err != nil {
		return nil, archiveError(err, dir)
	}
	o, err := read(a, dir)
	if err != nil {
		a.Close()
		return nil, archiveError(err, dir)
	}
	return o, nil
}

// newOpened reads state, settings and frontier of an open archive.
func newOpened(a *storage.Archive, dir string) (*opened, error) {
	o, err := newShown(a, dir)
	if err == nil {
		o.f, err = o.Frontier()
	}
	return o, corrupt(err)
}

func newShown(a *storage.Archive, dir string) (*opened, error) {
	o := &opened{Archive: a, config: defaults()}
	o.state.Settings = &o.config
	ok, err := o.Crawl(&o.state)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", dir, storage.ErrNone)
	}
	if err == nil && o.state.Holds == nil {
		err = o.state.CountHeld(a)
	}
	if err != nil {
		return o, err
	}
	if o.seed, err = weburl.Parse(o.state.Seed); err != nil {
		err = &storage.DamageError{File: "crawl.db", What: "its seed cannot be decoded"}
	}
	return o, err
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
		u.say("the crawl is not complete (%s); this is what the archive has so far",
			unfinished(o.Archive, &o.state, o.f))
	}
}
