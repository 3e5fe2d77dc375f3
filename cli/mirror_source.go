package cli

import (
	"context"
	"fmt"
	"time"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/politeness/rules"
	"curtsy/publish/inventory"
	"curtsy/publish/mirror"
	"curtsy/storage"
)

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
