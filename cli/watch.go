package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"curtsy/crawler/status"
)

// watchEvery is how often status --watch looks.
const watchEvery = time.Second

// watch shows how crawls go, an archive a row, until it is stopped or none of them
// runs any more. On a terminal the rows change where they stand.
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

// watchRows are a line for each archive.
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

// widthOf is how many columns a terminal has; 0 where there is none.
func widthOf(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	columns, _, _ := term.GetSize(int(f.Fd()))
	return columns
}
