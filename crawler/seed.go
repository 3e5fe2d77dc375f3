package crawler

import (
	"fmt"
	"net/http"
	"slices"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// SeedFailure is why a finished crawl has no page for its seed.
type SeedFailure struct {
	Why       string
	Others    bool       // other pages were fetched, such as those of a sitemap
	Elsewhere weburl.URL // the other site that the seed redirects to; zero if it does not
	Refused   bool       // the site refuses this crawler, though perhaps not a browser
}

// SeedFailure says why the seed gave no page; nil if it did. It may be called after Run.
func (c *Crawl) SeedFailure() (failed *SeedFailure, err error) {
	defer storage.Guard(&err)()
	if well, err := c.seedIsWell(); well || err != nil {
		return nil, err
	}
	chain, others, err := c.seeds()
	if err != nil || len(chain) == 0 {
		return nil, err
	}
	failed, err = c.seedFailure(chain[len(chain)-1])
	if failed == nil || err != nil {
		return nil, err
	}
	failed.Others = others
	return failed, nil
}

// seedIsWell reports whether the seed itself was fetched as a page. It spares reading all pages, as
// seeds does.
func (c *Crawl) seedIsWell() (bool, error) {
	found, err := c.frontier.Find(c.opts.Seed)
	for _, f := range found {
		if f.IsSeed() && f.State == frontier.StateFetched {
			failed, err := c.seedFailure(f)
			return failed == nil, err
		}
	}
	return false, err
}

// GivenFailures lists why given URLs (Options.Given) failed.
func (c *Crawl) GivenFailures() (failed []string, err error) {
	defer storage.Guard(&err)()
	for _, u := range slices.Concat(c.opts.Given.Pages, c.opts.Given.Sitemaps) {
		found, err := c.frontier.Find(u)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		f, err := c.seedFailure(found[len(found)-1])
		if err != nil {
			return nil, err
		}
		if f != nil {
			failed = append(failed, f.Why)
		}
	}
	return failed, nil
}

// seedFailure says why the URL that the seed finally led to gave no page.
func (c *Crawl) seedFailure(seed frontier.Found) (*SeedFailure, error) {
	visits, err := c.archive.VisitsOf(seed.ID)
	if err != nil {
		return nil, err
	}
	last := &crawllog.Visit{}
	if len(visits) > 0 {
		last = visits[len(visits)-1]
	}
	switch {
	case seed.State == frontier.StateFetched && last.Location == "":
		return nil, nil
	case seed.State == frontier.StateFetched:
		return c.ledAway(seed.URL, weburl.FromCanonical(last.Location))
	case seed.State == frontier.StateQueued && c.ledger.get().Finished: // a finished crawl has nothing queued
		return nil, &storage.DamageError{File: "crawl.db", What: "the state of " + seed.URL.String() + " is missing"}
	case last.Error != "":
		return &SeedFailure{Why: last.Error}, nil
	case seed.Reason.Rule == judge.HTTP:
		refused := last.Status == http.StatusForbidden || last.Status == http.StatusUnavailableForLegalReasons
		why := fmt.Sprintf("%s answered %d", seed.URL, last.Status)
		if last.Status == http.StatusBadRequest && seed.URL.Scheme() == "http" { // as nginx, Apache and net/http do
			why += ", as a server of https does when it is asked in plain http"
		}
		return &SeedFailure{Why: why, Refused: refused}, nil
	case last.Blocked != "":
		return &SeedFailure{Why: fmt.Sprintf("%s answered with a %s in the page's place", seed.URL, last.Blocked),
			Refused: true}, nil
	}
	return &SeedFailure{Why: seed.URL.String() + ": " + seed.Reason.String()}, nil
}

// ledAway describes a seed whose redirects end at a URL that was not fetched; nil if it was fetched as
// another page.
func (c *Crawl) ledAway(from, to weburl.URL) (*SeedFailure, error) {
	found, err := c.frontier.Find(to)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	f := &SeedFailure{Why: fmt.Sprintf("%s redirects to %s", from, to)}
	switch last := found[len(found)-1]; {
	case last.State == frontier.StateFetched:
		return nil, nil
	case last.Reason.Rule == judge.Host:
		f.Why += ", which is another site"
		f.Elsewhere = to
	default:
		f.Why += ": " + last.Reason.String()
	}
	return f, nil
}

// seeds returns the chain of the seed and its redirect targets, and whether any other page was fetched.
func (c *Crawl) seeds() (chain []frontier.Found, others bool, err error) {
	err = c.frontier.Each(frontier.Page, func(f frontier.Found) error {
		switch {
		case !f.IsSeed():
			others = others || f.State == frontier.StateFetched
		case len(chain) == 0 || f.Redirects >= chain[len(chain)-1].Redirects:
			chain = append(chain, f)
		}
		return nil
	})
	return chain, others, err
}

// SeedAgain requeues the seed of a finished crawl and its redirect targets if the seed failed, and
// reports whether it did.
func (c *Crawl) SeedAgain() (again bool, err error) {
	defer storage.Guard(&err)()
	failed, err := c.SeedFailure()
	if failed == nil || err != nil {
		return false, err
	}
	chain, _, err := c.seeds()
	if err != nil {
		return false, err
	}
	for i := range chain {
		chain[i].Attempts = c.archive.LastN(chain[i].ID)
	}
	c.ledger.state.Finished = false
	return true, c.commitFrontier(chain...)
}
