package cli

import (
	"errors"
	"time"

	"curtsy/crawler"
	"curtsy/internal/weburl"
)

// dryRun says what rules, sitemaps and scope would let a crawl do, and what
// it would take. robots.txt and sitemaps are fetched, at the polite pace; no
// page is, and nothing is kept.
func dryRun(u *ui, f *crawlFlags, c *config, seed weburl.URL) error {
	o, err := crawlOptions(c, seed, u.logger(f.verbose))
	if err != nil {
		return err
	}
	ctx, release := untilSignal()
	defer release()
	p, err := crawler.PreviewOf(ctx, o)
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // half a preview would mislead
		return exitWith(exitStopped, errors.New("stopped; nothing was kept"), "curtsy crawl "+p.Seed+" --dry-run")
	}
	if f.json {
		if err := u.json(p); err != nil {
			return err
		}
	} else {
		printPreview(u, p)
	}
	if p.Refused != "" {
		return exitWith(exitRefused, errors.New(p.Refused), refusedHint(p.Refused, "curtsy crawl "+p.Seed))
	}
	return nil
}

func printPreview(u *ui, p *crawler.Preview) {
	u.print("%s", p.Seed)
	u.print("  robots.txt   %s", p.Robots)
	if p.Verdict == "" {
		return // without it nothing is allowed
	}
	u.print("  seed         %s", p.Verdict)
	u.print("  pace         %s, %d at a time", p.Delay, p.Concurrency)
	for _, s := range p.Sitemaps {
		u.print("  sitemap      %s: %s, %d URLs, %d of them in scope and allowed", s.URL, s.Type, s.URLs, s.Allowed)
	}
	for reason, n := range p.LeftOut {
		u.print("  left out     %6d  %s", n, reason)
	}
	if p.URLs > 0 {
		u.print("  it would take at least %s for the %d URLs known so far; links add to that", p.AtLeast.Round(time.Second), p.URLs)
	} else {
		u.print("  no sitemap says how many pages there are; %s for each", p.Delay)
	}
}
