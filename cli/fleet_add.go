package cli

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"curtsy/crawler"
	"curtsy/fleet"
	"curtsy/fleet/store"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
)

// fleetAddFlags are the flags of fleet add.
type fleetAddFlags struct {
	every                              age
	cron, zone, config, contact, group string
}

func fleetAddCmd(u *ui, at *fleetAt) *cobra.Command {
	f := &fleetAddFlags{}
	list := vars{"every": &f.every, "cron": &f.cron, "tz": &f.zone, "config": &f.config, "contact": &f.contact,
		"group": &f.group}
	c := newCommand("add URL|FILE...", list, func(cmd *cobra.Command, a []string) error {
		sites, err := f.sites(u, a)
		if err != nil {
			return err
		}
		given := []string{}
		for _, flag := range []string{"every", "cron", "config", "contact", "group"} {
			if cmd.Flags().Changed(flag) {
				given = append(given, flag)
			}
		}
		return fleetAdd(u, at, sites, given)
	})
	c.MarkFlagsMutuallyExclusive("every", "cron")
	return c
}

// sites returns the sites of the arguments, checked like those of crawl.
func (f *fleetAddFlags) sites(u *ui, args []string) (list []fleet.Site, err error) {
	var settings []byte
	if f.config != "" {
		c := defaults()
		if settings, err = readAllowed(&c, f.config, siteKey); err != nil {
			return nil, err
		}
		if names := secretNames(c.Fetch.Header); names != nil {
			return nil, usagef("login.bearer: env:NAME, or curtsy crawl",
				"%s: fetch.header: %s holds a credential, which the list of sites would store", f.config, names[0])
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
		if _, err := siteOptions(s, nil, u.logger(false)); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, err
}

// fleetSeeds reads URLs, and files of URLs.
func fleetSeeds(u *ui, args []string) (seeds []weburl.URL, err error) {
	for _, a := range args {
		lines := []string{a}
		if st, statErr := os.Stat(a); a == "-" || statErr == nil && st.Mode().IsRegular() {
			if lines, err = readLines(u.in, a); err != nil {
				return nil, fileError(err)
			}
		}
		for _, line := range lines {
			if line == "" {
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

// fleetAdd adds sites in batches.
func fleetAdd(u *ui, at *fleetAt, sites []fleet.Site, given []string) error {
	const page = fleet.Page / 10 // each is written to the store before the response
	added, all := 0, len(sites)
	err := at.with("add", func(n *nats.Conn) error {
		for now := range slices.Chunk(sites, page) {
			a, err := fleet.Request(n, fleet.Ask{Do: "add", Sites: now, Given: given})
			if added += a.Added; err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		u.say("%s added, %d changed", legible.Count(added, "site"), all-added)
	}
	return err
}

func fleetSetCmd(u *ui, at *fleetAt) *cobra.Command {
	return newCommand("set HOST KEY=VALUE...", nil, func(_ *cobra.Command, a []string) error {
		got, err := at.ask(fleet.Ask{Do: "site", Names: fleetNames(a[:1])})
		if err != nil {
			return err
		}
		for _, pair := range a[1:] {
			key, value, ok := strings.Cut(pair, "=")
			if !ok {
				return usagef("curtsy fleet set "+a[0]+" "+pair+"=VALUE", "%q is not of the form KEY=VALUE", pair)
			}
			if err := setSite(got.Site, key, value); err != nil {
				return usagef("curtsy fleet set --help", "%s: %v", key, err)
			}
		}
		if _, err := siteOptions(*got.Site, nil, u.logger(false)); err != nil {
			return err
		}
		_, err = at.ask(fleet.Ask{Do: "add", Sites: []fleet.Site{*got.Site}})
		return err
	})
}

// setSite changes a setting of a site.
func setSite(s *fleet.Site, key, value string) (err error) {
	switch key {
	case "every":
		var d age
		if value != "" {
			err = d.Set(value)
		}
		if s.Every = time.Duration(d); value != "" {
			s.Cron, s.Zone = "", ""
		}
	case "cron":
		if s.Cron = value; value != "" {
			s.Every = 0
		}
	case "tz":
		s.Zone = value
	case "contact":
		s.Contact = value
	case "group":
		seed, parseErr := weburl.Parse(s.Seed)
		s.Group, err = cmp.Or(value, fleet.NewSite(seed).Group), parseErr
	default:
		s.Config, err = setKey(s.Config, key, value)
	}
	return err
}

// siteOptions makes the options for the crawl of a site. Environment variables of the worker do
// not apply.
func siteOptions(s fleet.Site, all logins, logger *slog.Logger) (crawler.Options, error) {
	if err := s.Check(); err != nil {
		return crawler.Options{}, err
	}
	seed, err := weburl.Parse(s.Seed)
	if err != nil {
		return crawler.Options{}, fmt.Errorf("%s: %w", s.Seed, err)
	}
	c, err := siteConfig(&s)
	if err != nil {
		return crawler.Options{}, err
	}
	all.login(&c, seed.Host())
	c.Contact = cmp.Or(s.Contact, c.Contact)
	return crawlOptions(&c, seed, logger)
}

func fleetPullCmd(u *ui, at *fleetAt) *cobra.Command {
	var place string
	return newCommand("pull HOST DIR", vars{"store": &place}, func(cmd *cobra.Command, a []string) error {
		s, err := store.Open(cmd.Context(), cmp.Or(place, fleetStore(at.dir)))
		if err != nil {
			return err
		}
		m, err := store.Load(cmd.Context(), s, fleetNames(a[:1])[0])
		if errors.Is(err, store.ErrNotFound) || err == nil && m.DB == nil {
			return exitWith(exitFailed, fmt.Errorf("%s: nothing of it has been saved yet", a[0]),
				"curtsy fleet why "+a[0])
		}
		if err == nil {
			err = store.Restore(cmd.Context(), s, &m, a[1])
		}
		if err != nil {
			return err
		}
		u.say("%s: %d fetched, saved at %s", a[1], m.Run.Fetched, u.time(m.Saved))
		return nil
	})
}
