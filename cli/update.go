package cli

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler"
	"curtsy/crawler/revisit"
	"curtsy/crawler/status"
	"curtsy/storage"
)

// updateFlags are the flags of update beside those of a crawl.
type updateFlags struct {
	olderThan, ifOlder age
	auto               bool
	only               string
}

func updateCmd(u *ui) *cobra.Command {
	f, g := &crawlFlags{}, &updateFlags{}
	var asArchived bool
	c := &cobra.Command{
		Use:   "update DIR",
		Short: "visit a site again: fetch what changed, keep what was good",
		Long: "update DIR revisits the URLs of a finished crawl in a round: robots.txt and sitemaps first, then each\n" +
			"page with a conditional request, by the same rules and at the same pace. New links are followed.\n" +
			"A good copy is never replaced by an error, an empty response or a placeholder page. A round that was\n" +
			"stopped continues with the same command.",
		Example: "  curtsy update site --older-than 7d\n  curtsy update site --auto\n  curtsy changes site",
		Args:    wants("DIR"),
		RunE: func(cmd *cobra.Command, a []string) error {
			seed, c, err := f.again(u, cmd, a[0], asArchived)
			if err != nil {
				return err
			}
			if f.round, err = g.options(); err != nil {
				return err
			}
			if recent, err := g.recent(a[0]); err != nil || recent {
				return err
			}
			return crawlAndMirror(u, f, &c, seed)
		},
	}
	f.register(c)
	asArchivedFlag(c, &asArchived)
	c.Flags().Var(&g.olderThan, "older-than", "visit URLs whose last visit is older than `AGE` (7d, 12h); default: all")
	c.Flags().BoolVar(&g.auto, "auto", false, "visit URLs that are due by their sitemap, max-age and rate of change")
	c.Flags().StringVar(&g.only, "only", "", "visit URLs that match this `regexp`")
	c.Flags().Var(&g.ifOlder, "if-older", "do nothing if the last round, or the crawl, started less than `AGE` ago")
	c.MarkFlagsMutuallyExclusive("older-than", "auto")
	return c
}

func (g *updateFlags) options() (*revisit.Options, error) {
	o := &revisit.Options{OlderThan: time.Duration(g.olderThan), Auto: g.auto}
	if g.only == "" {
		return o, nil
	}
	re, err := regexp.Compile(g.only)
	if err != nil {
		return nil, usagef("--only '^https://example.org/news/'", "--only %q: %v", g.only, err)
	}
	o.Only = re
	return o, nil
}

// recent says that the last round is too young for another, and finished.
func (g *updateFlags) recent(dir string) (bool, error) {
	if g.ifOlder == 0 {
		return false, nil
	}
	a, err := storage.OpenRead(dir)
	if err != nil {
		return false, archiveError(err, dir)
	}
	defer a.Close()
	var st status.State
	if _, err := a.Crawl(&st); err != nil {
		return false, archiveError(err, dir)
	}
	began := st.Began
	if n := len(st.Rounds); n > 0 {
		began = st.Rounds[n-1]
	}
	old := time.Since(began) // below zero, where the clock was set back since: nobody knows
	return st.Finished && old >= 0 && old < time.Duration(g.ifOlder), nil
}

// unfinishedError is that of a round over a crawl that has not come to its end.
func unfinishedError(err error, dir string) error {
	if !errors.Is(err, crawler.ErrUnfinished) {
		return nil
	}
	return exitWith(exitStopped, fmt.Errorf("%s: %w", dir, err), "curtsy resume "+quoted(dir)+", then curtsy update "+quoted(dir))
}

// age is a flag: a duration that may be in days.
type age time.Duration

func (a *age) Set(text string) error {
	d, err := parseAge(text)
	if err == nil && d < 0 {
		err = fmt.Errorf("%q is negative", text)
	}
	*a = age(d)
	return err
}

func (a *age) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

func (a *age) Type() string { return "age" }
