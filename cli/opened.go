package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"curtsy/crawler"
	"curtsy/crawler/status"
	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/publish/inventory"
	"curtsy/publish/mirror"
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

// linkOptions returns the options for judging the links of an archive.
func linkOptions(a *opened) (inventory.Options, error) {
	o := inventory.Options{Known: a.known, Now: time.Now()}
	var co crawler.Options
	err := rulesOptions(&a.config, &co)
	if err == nil {
		o.Fold, err = cleanParams(a.Archive, a.state.Origins, co.Rules)
	}
	return o, err
}

// mirrorOptions reads from an archive what its mirror needs: the seed, how the crawl ended,
// what it left out, and Clean-param.
func mirrorOptions(a *opened) (mirror.Options, error) {
	if err := a.readFrontier(); err != nil {
		return mirror.Options{}, err
	}
	c := &a.config
	o := mirror.Options{Seed: a.seed, MaxBody: int64(c.Fetch.MaxBody), MinFree: int64(c.Storage.MinFree),
		Origins: a.state.Origins, Now: time.Now(), Complete: a.state.Finished, Broken: a.broken, Left: a.left}
	if !o.Complete {
		o.Why = a.unfinished()
	}
	if c.Traps.Twins {
		o.Twin = judge.SamePage
	}
	links, err := linkOptions(a)
	o.Fold = links.Fold
	return o, archiveError(err, a.Dir())
}

// broken returns the site's broken URLs.
func (o *opened) broken(ctx context.Context) (*inventory.Targets, error) {
	links, err := linkOptions(o)
	if err != nil {
		return nil, err
	}
	return inventory.Broken(ctx, o.Archive, links)
}

// unfinished says why the crawl of an archive is not finished.
func (o *opened) unfinished() string {
	why := o.state.Ended
	switch {
	case o.IsLive():
		why = "it is running"
	case why == "":
		why = "it was cut short"
	}
	return fmt.Sprintf("%s, %s queued", why, legible.Count(o.f.Counts().Queued(), "URL"))
}

// left yields the URLs that the crawl knows and did not fetch. Failed fetches are visits, so
// they are not among them.
func (o *opened) left(each func(mirror.Left) error) error {
	for class := range judge.NumClasses {
		err := o.f.Each(class, func(found frontier.Found) error {
			if found.State == frontier.StateFetched {
				return nil
			}
			return each(mirror.Left{URL: found.URL.String(), State: stateWord(found.State.String()),
				Reason: found.Reason, How: string(found.How)})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// cleanParams returns the function that applies the site's Clean-param lines.
func cleanParams(a *storage.Archive, origins []string, o rules.Options) (func(weburl.URL) (weburl.URL, bool), error) {
	robots := map[string]*rules.Robots{}
	for _, origin := range origins {
		v, err := a.RobotsInForce(origin, time.Time{})
		if err != nil {
			return nil, err
		}
		if v == nil || v.Error != "" || rules.ResponseAccess(v.Status, v.Type, o) != rules.Parsed {
			continue
		}
		body, err := a.RobotsBody(v)
		if err != nil {
			return nil, err
		}
		robots[origin] = rules.Parse(body, o)
	}
	return func(u weburl.URL) (weburl.URL, bool) {
		r := robots[u.Origin()]
		if r == nil || !u.HasQuery() {
			return u, false
		}
		folded, by := r.Fold(u)
		return folded, by != nil
	}, nil
}
