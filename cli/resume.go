package cli

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/storage"
)

func resumeCmd(u *ui) *cobra.Command {
	f := &crawlFlags{}
	var asArchived bool
	return f.command("resume DIR", vars{"as-archived": &asArchived}, func(cmd *cobra.Command, a []string) error {
		seed, c, err := f.again(u, cmd, a[0], asArchived)
		if err != nil {
			return err
		}
		return crawlAndMirror(u, f, &c, seed)
	})
}

// again returns the seed of the crawl in an archive, and its settings overridden by those given
// now. Since archives may come from others, their proxy and a delay below the default apply
// only if confirmed by asArchived.
func (f *crawlFlags) again(u *ui, cmd *cobra.Command, dir string, asArchived bool) (seed weburl.URL,
	c config, err error) {
	seed, archived, err := remembered(dir)
	if err != nil {
		return seed, c, err
	}
	const noProxy, noDelay = "\x00", math.MinInt64
	c = archived
	c.Fetch.Proxy, c.Delay = noProxy, noDelay
	if c, err = f.settings(u, cmd, c); err != nil {
		return seed, c, err
	}
	c.Archive = dir
	if err := f.checkLogin(&archived, &c, "curtsy "+cmd.Name()+" "+quoted(dir)); err != nil {
		return seed, c, err
	}
	if c.Agent != archived.Agent {
		u.say("%s: crawled as %s so far, as %s from now on; another group of its robots.txt may apply", oneLine(dir),
			oneLine(archived.Agent), c.Agent)
	}
	isProxy, isPace := c.Fetch.Proxy == noProxy, c.Delay == noDelay
	if isProxy {
		c.Fetch.Proxy = archived.Fetch.Proxy
	}
	if isPace {
		c.Delay = archived.Delay
	}
	askProxy := isProxy && c.Fetch.Proxy != ""
	if !isLoopback(seed) || askProxy {
		u.say("%s: %s", oneLine(dir), paceText(&c))
	}
	if asArchived {
		return seed, c, nil
	}
	command := "curtsy " + cmd.Name() + " " + quoted(dir)
	if askProxy {
		return seed, c, usagef(command+" --proxy with the one to use, or --as-archived",
			"%s: its crawl used the proxy %s; an archive from somebody else may name any proxy", dir,
			proxyText(c.Fetch.Proxy))
	}
	if usual := defaults().Delay; isPace && c.Delay < usual && !isLoopback(seed) {
		return seed, c, usagef(command+" --delay "+usual.String()+", or --as-archived",
			"%s: its crawl paused %s between requests, less than the default of %s", dir, c.Delay, usual)
	}
	return seed, c, nil
}

// paceText formats the settings shown when a crawl continues.
func paceText(c *config) string {
	return oneLine(fmt.Sprintf("pause %s, %s at a time, proxy %s, contact %s", c.Delay.Round(time.Millisecond),
		legible.Count(c.Concurrency, "request"),
		cmp.Or(proxyText(c.Fetch.Proxy), "none"), cmp.Or(c.Contact, "none")))
}

// proxyText returns a proxy URL without its password.
func proxyText(proxy string) string {
	p, err := url.Parse(proxy)
	if err != nil {
		return "(not a URL)"
	}
	return p.Redacted()
}

// remembered reads seed and settings of the crawl in an archive.
func remembered(dir string) (seed weburl.URL, c config, err error) {
	defer func() { err = archiveError(err, dir) }()
	defer storage.Guard(&err)()
	a, err := openShown(dir)
	if err != nil {
		return seed, defaults(), err
	}
	defer a.Close()
	c = a.config
	if c.takeSecrets(); c.Login.Header != nil { // from an archive made before they were withheld
		c.LoggedIn, c.Login.Header = c.Login.kinds(), nil
	}
	return a.seed, c, nil
}
