package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"curtsy/crawler/status"
	"curtsy/frontier/judge"
	"curtsy/internal/legible"
)

func statusCmd(u *ui) *cobra.Command {
	var asJSON, watching bool
	list := vars{"json": &asJSON, "watch": &watching}
	return newCommand("status DIR...", list, func(_ *cobra.Command, a []string) error {
		if watching {
			ctx, release := u.until()
			defer release()
			return watch(ctx, u, a, watchEvery)
		}
		if len(a) > 1 && asJSON {
			return statusLines(u, a)
		}
		if len(a) > 1 {
			rows, _ := watchRows(a, time.Now())
			for _, row := range rows {
				u.print("%s", row)
			}
			return nil
		}
		s, err := status.Read(a[0])
		if err != nil {
			return archiveError(err, a[0])
		}
		if asJSON {
			u.json(inSeconds("", s))
		} else {
			printStatus(u, s)
		}
		return nil
	})
}

// statusLines prints a JSON object for each archive. It returns the error of an archive that
// cannot be read at the end.
func statusLines(u *ui, dirs []string) (failed error) {
	for _, dir := range dirs {
		s, err := status.Read(dir)
		if err != nil {
			u.fail(archiveError(err, dir))
			failed = err
			continue
		}
		u.json(inSeconds(dir, s))
	}
	if failed != nil {
		return exitWith(exitFailed, errors.New("not every archive could be read"), "curtsy verify DIR")
	}
	return nil
}

// whySkipped lists the rules by which URLs failed, were skipped or wait for a retry.
func (u *ui) whySkipped(s status.Status) {
	rest := maps.Clone(s.Rules)
	maps.DeleteFunc(rest, func(rule string, _ int) bool { return !judge.Belongs(rule) })
	for _, r := range s.Reasons {
		if !judge.Belongs(r.Rule) {
			continue
		}
		u.print("    %8d  %s", r.Count, r)
		rest[r.Rule] -= r.Count
	}
	for _, rule := range byCount(rest) {
		if rest[rule] > 0 {
			u.print("    %8d  %s: others", rest[rule], rule)
		}
	}
}

// inSeconds adds durations in seconds to a status.
func inSeconds(dir string, s status.Status) any {
	return struct {
		Archive string `json:"archive,omitempty"` // its directory, if several were given
		status.Status
		ElapsedSeconds float64 `json:"elapsed_seconds"`
		LeftSeconds    float64 `json:"left_seconds,omitempty"` // 0: unknown
	}{dir, s, s.Elapsed.Seconds(), s.Left.Seconds()}
}

func printStatus(u *ui, s status.Status) {
	u.print("%s: %s", s.Seed, s.State)
	if s.Why != "" {
		u.print("  %s", s.Why)
	}
	u.print("  discovered   %8d", s.Discovered)
	u.print("  fetched      %8d", s.Fetched)
	u.print("  failed       %8d", s.Failed)
	u.print("  skipped      %8d", s.Disregarded)
	u.whySkipped(s)
	u.print("  queued       %8d", s.Queued)
	if s.Orphans > 0 {
		u.print("  orphans      %8d  (in a sitemap, no link to them so far)", s.Orphans)
	}
	if s.OtherSites > 0 {
		u.print("  other sites  %8d  (URLs there that links lead to; not part of the crawl)", s.OtherSites)
	}
	u.print("  pages        %8d", s.Pages)
	u.print("  kept         %8d  (URLs whose response is in the archive)", s.Kept)
	if s.Withheld > 0 {
		u.print("  withheld     %8d  (by noarchive, as their pages ask)", s.Withheld)
	}
	if s.Elsewhere > 0 {
		u.print("  elsewhere    %8d  (visits whose body is in another archive: --known)", s.Elsewhere)
	}
	u.print("  visits       %8d  (%d brought the same bytes as another; %s)", s.Visits, s.Revisits,
		legible.Bytes(s.Bytes))
	if s.Round != nil {
		u.print("  round %-2d     %8d  (%s)", s.Round.N, s.Round.Pages, legible.Bytes(s.Round.Bytes))
	}
	if s.State == "running" {
		u.print("  now          %s", statusLine(s, u.zone()))
	}
	for _, v := range s.InFlight {
		u.print("  in flight    %s: %s since %s", v.URL, v.Step, u.time(v.Since))
	}
	if s.WaitingFor != "" {
		until := ""
		if t := s.Until(); !t.IsZero() {
			until = " until " + u.time(t)
		}
		u.print("  waiting for  %s%s", s.WaitingFor, until)
	}
	u.print("  elapsed      %s, as of %s", s.Elapsed.Round(time.Second), u.time(s.Updated))
}

// watchEvery is the interval of status --watch.
const watchEvery = time.Second

// watch shows the progress of crawls, one archive per row, until it is stopped or no crawl is
// running. On a terminal the rows are updated in place.
func watch(ctx context.Context, u *ui, dirs []string, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	redraw := isTerminal(u.out.w) && !isDumb()
	for drawn := 0; ; {
		rows, running := watchRows(dirs, time.Now())
		if redraw && drawn > 0 {
			fmt.Fprintf(u.out, "\x1b[%dA\x1b[J", drawn)
		}
		width := widthOf(u.out.w)
		for _, row := range rows {
			if width > 0 {
				row = runewidth.Truncate(row, width-1, ellipsis(os.Getenv))
			}
			u.print("%s", row)
		}
		drawn = len(rows)
		if !running {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// watchRows returns a row for each archive.
func watchRows(dirs []string, now time.Time) (rows []string, running bool) {
	name := 0
	for _, dir := range dirs {
		name = max(name, runewidth.StringWidth(shortDir(dir)))
	}
	for _, dir := range dirs {
		s, err := status.Read(dir)
		text := ""
		switch {
		case err != nil:
			text = err.Error()
		case s.State == "running":
			running = true
			lines := progressLines(s, now, "")
			text = joined([]string{lines[0], joined(countTexts(s, false)), lines[2]})
		default:
			text = s.State + ", " + progressLines(s, now, "")[1] + fmt.Sprintf(", %d queued", s.Queued)
		}
		rows = append(rows, oneLine(runewidth.FillRight(shortDir(dir), name)+"  "+strings.TrimSpace(text)))
	}
	return rows, running
}

func shortDir(dir string) string {
	return runewidth.Truncate(filepath.Base(filepath.Clean(dir)), 24, ellipsis(os.Getenv))
}

// widthOf returns the number of columns of a terminal; 0 if w is not one.
func widthOf(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	columns, _, _ := term.GetSize(int(f.Fd()))
	return columns
}
