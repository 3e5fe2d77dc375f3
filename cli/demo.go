package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"curtsy/crawler"
	"curtsy/crawler/explain"
	"curtsy/internal/weburl"
)

func demoCmd(u *ui) *cobra.Command {
	var keep string
	c := newCommand("demo", func(c *cobra.Command, _ []string) error {
		dir := keep
		if dir == "" {
			tmp, err := os.MkdirTemp("", "curtsy-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(tmp)
			dir = filepath.Join(tmp, "archive")
		}
		return demo(c.Context(), u, dir, keep != "")
	})
	c.Flags().StringVar(&keep, "keep", "", inHelp)
	return c
}

// demoMonths is how far the demo looks ahead: its calendar has no end, and three
// months show that as well.
const demoMonths = 3

// demo crawls the built-in site and shows every URL with the rule behind it.
func demo(ctx context.Context, u *ui, dir string, kept bool) error {
	origin, stop, err := demoSite()
	if err != nil {
		return err
	}
	defer stop()
	seed := weburl.MustParse(origin + "/")
	c := defaults()
	c.Delay, c.Politeness.Adaptive = 0, 0
	c.Traps.Ahead = demoMonths
	o, err := crawlOptions(&c, seed, u.logger(false))
	if err != nil {
		return err
	}
	u.say("crawling %s, a small site with every kind of rule; robots.txt asks for 50 ms between requests", seed)
	cr, err := crawler.Open(dir, o)
	if errors.Is(err, crawler.ErrSeed) {
		return demoAgain(dir)
	}
	if err != nil {
		return archiveError(err, dir)
	}
	result, err := cr.Run(ctx, ctx)
	if closeErr := cr.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	rows, err := explain.List(dir)
	if err != nil {
		return err
	}
	printDemo(u, rows, origin)
	n := result.Counts.OfSite()
	u.print("")
	u.print("%s: %d fetched, %d failed, %d skipped, in %s", count(n.Discovered, "URL"), n.Fetched, n.Failed,
		n.Disregarded, result.State.Elapsed.Round(1e7))
	if kept {
		u.say("the archive is in %s; try: curtsy explain %s '/news?ref=top'", dir, quoted(dir))
	} else {
		u.say("try: curtsy demo --keep demo-archive, then curtsy explain demo-archive URL")
	}
	return endingError(result, dir, dir)
}

// demoAgain says what is in the way of a demo: each has a port of its own, and
// so is the crawl of another site.
func demoAgain(dir string) error {
	seed, c, err := remembered(dir)
	if err == nil && isLoopback(seed) && c.Delay == 0 && c.Traps.Ahead == demoMonths {
		return usagef("curtsy demo --keep with another DIR, or remove "+quoted(dir)+" first",
			"%s holds an earlier demo", dir)
	}
	return usagef("curtsy demo --keep with another DIR", "%s holds the archive of another site; it was not touched",
		dir)
}

func printDemo(u *ui, rows []explain.Row, origin string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "URL\tSTATE\tHTTP\tKEPT\tRULE")
	for _, r := range rows {
		status := ""
		if r.Status > 0 {
			status = fmt.Sprint(r.Status)
		}
		url := cmp.Or(strings.TrimPrefix(r.URL, origin), "/")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", url, stateWord(r.State), status, r.Kept, r.Rule)
	}
	w.Flush()
	for line := range strings.Lines(b.String()) {
		u.print("%s", strings.TrimRight(line, "\n"))
	}
}
