package crawler

import (
	"errors"
	"fmt"

	"curtsy/frontier"
	"curtsy/frontier/judge"
	"curtsy/storage"
)

// SeedFailure says why the seed failed, if it did and no other page was
// fetched either; "" if there is a page. It is asked after Run.
func (c *Crawl) SeedFailure() (why string, err error) {
	defer storage.Guard(&err)()
	var seed frontier.Found // the last of its redirects
	enough := errors.New("a page was fetched")
	err = c.frontier.Each(frontier.Page, func(f frontier.Found) error {
		switch {
		case !f.IsSeed() && f.State == frontier.StateFetched:
			return enough
		case f.IsSeed() && (seed.ID == 0 || f.Redirects > seed.Redirects):
			seed = f
		}
		return nil
	})
	if errors.Is(err, enough) || err == nil && seed.State != frontier.StateFailed {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	why = seed.URL.String() + ": " + seed.Reason.String()
	visits, err := c.archive.VisitsOf(seed.ID)
	if n := len(visits); n > 0 && visits[n-1].Error != "" {
		why = visits[n-1].Error
	} else if n > 0 && seed.Reason.Rule == judge.HTTP {
		why = fmt.Sprintf("%s answered %d", seed.URL, visits[n-1].Status)
	}
	return why, err
}
