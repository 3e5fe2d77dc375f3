package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"curtsy/crawler/preview"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
)

// dryRun previews a crawl: what robots.txt, sitemaps and scope permit, and how long it would
// take. It fetches robots.txt, sitemaps and the seed page at the polite pace, and stores
// nothing.
func dryRun(u *ui, f *crawlFlags, c *config, seed weburl.URL) error {
	o, err := crawlOptions(c, seed, u.logger(f.verbose))
	if err != nil {
		return err
	}
	ctx, release := u.until()
	defer release()
	p, err := preview.Of(ctx, o)
	if err != nil {
		return err
	}
	if ctx.Err() != nil { // an incomplete preview would mislead
		return exitWith(exitStopped, errors.New("stopped; nothing was kept"),
			"curtsy crawl "+quoted(p.Seed)+" --dry-run")
	}
	if f.json {
		u.json(struct {
			*preview.Preview
			AtLeastSeconds float64 `json:"at_least_seconds"`
		}{p, p.AtLeast.Seconds()})
	} else if p.Unreachable == nil || !f.bare { // otherwise http may answer
		printPreview(u, p)
	}
	if p.Unreachable != nil {
		return exitWith(exitFailed, p.Unreachable, unreachableHint(p.Unreachable))
	}
	if p.Refused != "" {
		return refused(p.Refused, p.Denied, "curtsy crawl "+quoted(p.Seed))
	}
	if p.Stopped != "" {
		return exitWith(exitStopped, errors.New(p.Stopped), "curtsy crawl "+quoted(p.Seed)+" --dry-run, later")
	}
	if front := p.Front; front != nil && front.Failed != "" {
		try := "another URL, or the same command later"
		if front.Status == http.StatusForbidden {
			try = c.askOwner()
		} else if front.Elsewhere != "" {
			try = c.command(seed) + " --follow-seed, if that is the site"
		}
		return exitWith(exitFailed, fmt.Errorf("a crawl would bring nothing: %s", front.Failed), try)
	}
	return nil
}

func printPreview(u *ui, p *preview.Preview) {
	u.print("%s", p.Seed)
	for _, note := range p.Notes {
		u.print("  names        %s", note)
	}
	u.print("  robots.txt   %s", p.Robots)
	if p.Verdict == "" {
		return // without robots.txt nothing is allowed
	}
	u.print("  seed         %s", p.Verdict)
	if f := p.Front; f != nil && f.Status > 0 {
		u.print("  page         %s answered %d, %s, %q, %s", f.URL, f.Status, cmp.Or(f.Type, "no type"), f.Title,
			legible.Count(f.Links, "link"))
		for _, need := range f.Needs {
			u.print("  needs        %s", need)
		}
	}
	u.print("  pace         %s, %d at a time", p.Delay, p.Concurrency)
	for _, s := range p.Sitemaps {
		u.print("  sitemap      %s: %s, %s, %d of them in scope and allowed", s.URL, s.Type,
			legible.Count(s.URLs, "URL"), s.Allowed)
	}
	for _, reason := range byCount(p.LeftOut) {
		u.print("  left out     %6d  %s", p.LeftOut[reason], reason)
	}
	if p.URLs > 0 {
		u.print("  it would take at least %s for the %s known so far; links will add more",
			p.AtLeast.Round(time.Second), legible.Count(p.URLs, "URL"))
	} else {
		u.print("  no sitemap says how many pages there are; %s per page", p.Delay)
	}
}
