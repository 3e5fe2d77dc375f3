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

// opened is an archive with its frontier, open for reading.
type opened struct {
	*storage.Archive
	f      *frontier.Frontier
	state  status.State
	config config
	seed   weburl.URL
}

// openBoth opens an archive for a command that reads what the crawl knows.
func openBoth(dir string) (*opened, error) {
	a, err := storage.OpenRead(dir)
	if err != nil {
		return nil, archiveError(err, dir)
	}
	o, err := newOpened(a, dir)
	if err != nil {
		a.Close()
		return nil, archiveError(err, dir)
	}
	return o, nil
}

// newOpened reads what the crawl knows of an archive that is open.
func newOpened(a *storage.Archive, dir string) (*opened, error) {
	o := &opened{Archive: a, config: defaults()}
	o.state.Settings = &o.config
	return o, o.load(dir)
}

// openShown is openBoth without the frontier, which takes memory for each URL.
func openShown(dir string) (*opened, error) {
	a, err := storage.OpenRead(dir)
	if err != nil {
		return nil, archiveError(err, dir)
	}
	o := &opened{Archive: a, config: defaults()}
	o.state.Settings = &o.config
	if err := o.loadState(dir); err != nil {
		a.Close()
		return nil, archiveError(err, dir)
	}
	return o, nil
}

func (o *opened) load(dir string) error {
	if err := o.loadState(dir); err != nil {
		return err
	}
	var err error
	o.f, err = o.Frontier()
	return corrupt(err)
}

func (o *opened) loadState(dir string) error {
	ok, err := o.Crawl(&o.state)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", dir, storage.ErrNone)
	}
	if err != nil {
		return err
	}
	if o.state.Holds == nil {
		if err := o.state.CountHeld(o.Archive); err != nil {
			return err
		}
	}
	if o.seed, err = weburl.Parse(o.state.Seed); err != nil {
		return &storage.DamageError{File: "crawl.db", What: "its seed cannot be decoded"}
	}
	return nil
}

// corrupt makes what the frontier finds wrong in crawl.db a DamageError.
func corrupt(err error) error {
	if errors.Is(err, frontier.ErrCorrupt) {
		return &storage.DamageError{File: "crawl.db", What: err.Error()}
	}
	return err
}

// known gives all URLs of the frontier (inventory.KnownOf).
func (o *opened) known(each func(inventory.Known) error) error {
	return corrupt(inventory.KnownOf(o.f)(each))
}

// sayIncomplete tells that the crawl has not seen all of its site yet.
func (o *opened) sayIncomplete(u *ui) {
	if !o.state.Finished {
		u.say("the crawl is not complete (%s); this is what the archive has so far",
			unfinished(o.Archive, &o.state, o.f))
	}
}
