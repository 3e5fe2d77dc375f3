package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler/status"
	"curtsy/internal/legible"
	"curtsy/publish/changes"
)

// changesFlags are the flags of changes.
type changesFlags struct {
	since            string
	round            int
	json, html, atom bool
}

func changesCmd(u *ui) *cobra.Command {
	f := &changesFlags{}
	list := vars{"since": &f.since, "round": &f.round, "json": &f.json, "html": &f.html, "atom": &f.atom}
	c := newCommand("changes DIR", list, func(cmd *cobra.Command, a []string) error {
		return f.run(cmd.Context(), u, a[0])
	})
	c.MarkFlagsMutuallyExclusive("json", "html", "atom")
	c.MarkFlagsMutuallyExclusive("since", "round")
	return c
}

func (f *changesFlags) run(ctx context.Context, u *ui, dir string) (err error) {
	a, err := openShown(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	o, err := f.span(&a.state, dir)
	if err != nil {
		return err
	}
	told, slight := 0, 0
	o.Slight = func(string) { slight++ }
	page := &changes.Page{Site: a.state.Seed, Since: o.Since, Now: time.Now()}
	for c, err := range changes.Of(ctx, a.Archive, o) {
		if err != nil {
			return archiveError(err, dir)
		}
		told++
		switch {
		case f.html || f.atom: // published lists contain only what may be listed
			if c.Listed {
				page.Changes = append(page.Changes, c)
			}
		case f.json:
			u.json(c.JSON())
		default:
			f.print(u, c)
		}
	}
	switch {
	case f.html:
		return page.WriteHTML(u.out)
	case f.atom:
		return page.WriteAtom(u.out)
	}
	if told == 0 && slight == 0 {
		u.say("nothing has changed since %s", u.time(o.Since))
	}
	if slight > 0 {
		u.say("%s only in numbers or dates, or in what changed on many pages: curtsy diff %s URL shows it",
			differs(slight, told == 0), quoted(dir))
	}
	return nil
}

// differs says how many pages differ slightly.
func differs(n int, alone bool) string {
	text := legible.Count(n, "page")
	if !alone {
		text = legible.Count(n, "other page")
	}
	if n == 1 {
		return text + " differs"
	}
	return text + " differ"
}

// span returns the period of the comparison.
func (f *changesFlags) span(st *status.State, dir string) (o changes.Options, err error) {
	switch {
	case f.since != "":
		o.Since, err = timeFlag("--since", f.since, time.Now())
	case f.round < 0 || f.round > len(st.Rounds):
		err = usagef("curtsy changes "+quoted(dir)+" --round "+strconv.Itoa(max(1, len(st.Rounds))),
			"--round %d: the archive has %s", f.round, legible.Count(len(st.Rounds), "round"))
	case f.round > 0:
		o.Since = st.Rounds[f.round-1]
		if f.round < len(st.Rounds) {
			o.Until = st.Rounds[f.round]
		}
	case len(st.Rounds) == 0:
		err = usagef("curtsy update "+quoted(dir), "%s has been crawled only once: there is nothing to compare", dir)
	default:
		o.Since = st.Rounds[len(st.Rounds)-1]
	}
	return o, err
}

// timeFlag parses a date, a time, or an age. name is the flag or argument, for errors.
func timeFlag(name, text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if age, err := parseAge(text); err == nil {
		return now.Add(-age), nil
	}
	return time.Time{}, usagef(name+" 2026-01-31, or "+name+" 7d", "%s %q: not a date, a time or an age", name, text)
}

// atFlag is timeFlag for the time of a version. Times are printed in seconds, so a time without
// fraction means the end of that second.
func atFlag(name, text string, now time.Time) (time.Time, error) {
	t, err := timeFlag(name, text, now)
	if err == nil && t.Nanosecond() == 0 {
		t = t.Add(time.Second - time.Nanosecond)
	}
	return t, err
}

// parseAge parses a duration, which may be in days.
func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || n < 0 || n > 36500 {
			return 0, fmt.Errorf("%q is not a number of days", text)
		}
		return time.Duration(n * 24 * float64(time.Hour)), nil
	}
	return time.ParseDuration(text)
}

// print prints a change for people.
func (f *changesFlags) print(u *ui, c *changes.Change) {
	line := fmt.Sprintf("%-11s %s", c.Kind, c.URL)
	if c.Title != "" {
		line += "  " + c.Title
	}
	if c.Reason != "" {
		line += "  (" + c.Reason + ")"
	}
	u.print("%s", line)
	for _, p := range c.Passages {
		for _, text := range strings.FieldsFunc(p.Was, isLineEnd) {
			u.print("            - %s", legible.Cut(text, 300))
		}
		for _, text := range strings.FieldsFunc(p.Now, isLineEnd) {
			u.print("            + %s", legible.Cut(text, 300))
		}
	}
}

func isLineEnd(r rune) bool { return r == '\n' }
