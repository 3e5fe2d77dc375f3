package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler"
	"curtsy/fleet"
	"curtsy/fleet/store"
	"curtsy/internal/weburl"
)

// fleetAddFlags are those of fleet add.
type fleetAddFlags struct {
	every                              age
	cron, zone, config, contact, group string
}

func fleetAddCmd(u *ui, at *fleetAt) *cobra.Command {
	f := &fleetAddFlags{}
	c := &cobra.Command{
		Use:   "add URL|FILE...",
		Short: "add sites to the list, or change the schedule and settings of listed ones",
		Long: "add puts sites on the list: URLs, or files with one URL per line (- is standard input). Adding a site\n" +
			"again changes its schedule and settings, so the same file can be added any number of times.",
		Example: "  curtsy fleet add https://example.org/ --contact you@example.org\n  curtsy fleet add sites.txt --cron '0 3 * * 1' --tz Europe/Berlin --config polite.yaml",
		Args:    someNames,
		RunE: func(cmd *cobra.Command, a []string) error {
			sites, err := f.sites(u, a)
			if err != nil {
				return err
			}
			return fleetAdd(u, at, sites)
		},
	}
	fl := c.Flags()
	fl.Var(&f.every, "every", "crawl again this long after the last run started (7d, 12h)")
	fl.StringVar(&f.cron, "cron", "", "crawl at these `TIMES`: minute, hour, day, month, weekday, such as '0 3 * * 1'")
	fl.StringVar(&f.zone, "tz", "", "time `zone` of --cron, such as Europe/Berlin (default UTC)")
	fl.StringVar(&f.config, "config", "", "settings of these sites, from `FILE` (config.example.yaml lists them all)")
	fl.StringVar(&f.contact, "contact", "", "mail address or URL where the sites' owners can reach you")
	fl.StringVar(&f.group, "group", "", "crawl sites that share this `name` one at a time (default: the registered domain of each)")
	c.MarkFlagsMutuallyExclusive("every", "cron")
	return c
}

// sites are those that were named, checked as crawl checks them.
func (f *fleetAddFlags) sites(u *ui, args []string) (list []fleet.Site, err error) {
	var settings []byte
	if f.config != "" {
		c := defaults()
		if err := readConfig(&c, f.config); err != nil {
			return nil, err
		}
		if settings, err = os.ReadFile(f.config); err != nil {
			return nil, fileError(err)
		}
	}
	env := defaults()
	if err := u.readEnv(&env); err != nil {
		return nil, err
	}
	seeds, err := fleetSeeds(u, args)
	for _, seed := range seeds {
		s := fleet.NewSite(seed)
		s.Every, s.Cron, s.Zone, s.Config = time.Duration(f.every), f.cron, f.zone, settings
		s.Contact, s.Group = cmp.Or(f.contact, env.Contact), cmp.Or(f.group, s.Group)
		if err := s.Check(); err != nil {
			return nil, usagef("curtsy fleet add --help", "%v", err)
		}
		if _, err := siteOptions(s, u.logger(false)); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, err
}

// fleetSeeds reads URLs, and files of them.
func fleetSeeds(u *ui, args []string) (seeds []weburl.URL, err error) {
	for _, a := range args {
		lines := []string{a}
		if st, statErr := os.Stat(a); a == "-" || statErr == nil && st.Mode().IsRegular() {
			if lines, err = readLines(u, a); err != nil {
				return nil, fileError(err)
			}
		}
		for _, line := range lines {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			seed, err := seedURL(line)
			if err != nil {
				return nil, err
			}
			seeds = append(seeds, seed)
		}
	}
	return seeds, nil
}

func readLines(u *ui, name string) (lines []string, err error) {
	var r io.Reader = u.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	s := bufio.NewScanner(r)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines, s.Err()
}

// fleetAdd adds a page of sites at a time.
func fleetAdd(u *ui, at *fleetAt, sites []fleet.Site) error {
	n, err := at.connect()
	if err != nil {
		return err
	}
	defer n.Close()
	const page = fleet.Page / 10 // each is written to the store before the answer
	added, all := 0, len(sites)
	for len(sites) > 0 {
		now := sites[:min(page, len(sites))]
		a, err := fleet.Request(n, fleet.Ask{Do: "add", Sites: now})
		added += a.Added
		if err != nil {
			return err
		}
		sites = sites[len(now):]
	}
	u.say("%s added, %s changed", count(added, "site"), fmt.Sprint(all-added))
	return nil
}

// siteOptions makes the options of a site's crawl. What the variables of a
// worker's environment say is not the site's.
func siteOptions(s fleet.Site, logger *slog.Logger) (crawler.Options, error) {
	seed, err := weburl.Parse(s.Seed)
	if err != nil {
		return crawler.Options{}, fmt.Errorf("%s: %w", s.Seed, err)
	}
	c := defaults()
	if err := decodeConfig(&c, s.Config); err != nil {
		return crawler.Options{}, fmt.Errorf("settings of %s: %w", s.Name, err)
	}
	c.Contact = cmp.Or(s.Contact, c.Contact)
	c.Archive = ""
	return crawlOptions(&c, seed, logger)
}

func fleetPullCmd(u *ui, at *fleetAt) *cobra.Command {
	var place string
	c := &cobra.Command{
		Use:   "pull HOST DIR",
		Short: "copy a site's archive from the store, as it was last saved",
		Args:  wants("HOST", "DIR"),
		RunE: func(cmd *cobra.Command, a []string) error {
			s, err := store.Open(cmd.Context(), cmp.Or(place, fleetStore(at.dir)))
			if err != nil {
				return err
			}
			m, err := store.Load(cmd.Context(), s, fleetNames(a[:1])[0])
			if err == nil {
				err = store.Restore(cmd.Context(), s, &m, a[1])
			}
			if err != nil {
				return err
			}
			u.say("%s: %d fetched, saved at %s", a[1], m.Run.Fetched, m.Saved.Format(time.RFC3339))
			return nil
		},
	}
	c.Flags().StringVar(&place, "store", "", "the store: s3://BUCKET/PREFIX or a `directory` (default: store in --dir)")
	return c
}
