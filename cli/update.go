package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler/revisit"
	"curtsy/internal/legible"
	"curtsy/publish/changes"
	"curtsy/storage"
)

// updateFlags are the flags of update in addition to those of a crawl.
type updateFlags struct {
	olderThan, ifOlder age
	auto               bool
	only               string
}

func updateCmd(u *ui) *cobra.Command {
	f, g := &crawlFlags{}, &updateFlags{}
	var asArchived bool
	var dir string
	list := vars{"archive": &dir, "older-than": &g.olderThan, "auto": &g.auto, "only": &g.only, "if-older": &g.ifOlder,
		"as-archived": &asArchived}
	c := f.command("update DIR|URL", list, func(cmd *cobra.Command, a []string) error {
		if isURL(a[0]) {
			seed, err := seedURL(a[0])
			if err != nil {
				return err
			}
			at := cmp.Or(dir, archiveName(seed.Host()))
			if _, err := os.Stat(filepath.Join(at, "crawl.db")); errors.Is(err, fs.ErrNotExist) {
				return f.crawl(u, cmd, a, dir, crawlAndMirror)
			}
			if had, _, err := remembered(at); err == nil && had.Host() != seed.Host() {
				return usagef("--archive with another directory", "%s is the archive of %s", at, had)
			}
			a[0] = at
		} else if dir != "" {
			return usagef("curtsy update "+quoted(dir), "--archive is for update URL; %s is a directory", a[0])
		}
		seed, c, err := f.again(u, cmd, a[0], asArchived)
		if err != nil {
			return err
		}
		if f.round, err = g.options(); err != nil {
			return err
		}
		if ready, err := g.mayBegin(u, a[0]); err != nil || !ready {
			return err
		}
		return crawlAndMirror(u, f, &c, seed)
	})
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

// roundJSON is the result of a round. A round is one pass of update over the site's URLs; it
// may take several runs of the command.
type roundJSON struct {
	State       string  `json:"state"`
	Why         string  `json:"why"`
	Round       int     `json:"round"`
	Visited     int     `json:"visited"` // pages and requisites
	New         int     `json:"new"`
	Changed     int     `json:"changed"`
	Same        int     `json:"same"`
	Gone        int     `json:"gone"`
	Back        int     `json:"back"`
	Moved       int     `json:"moved"`
	Suspect     int     `json:"suspect"`
	Unreachable int     `json:"unreachable"`
	Queued      int     `json:"queued"`
	Bytes       int64   `json:"bytes"`
	Seconds     float64 `json:"seconds"` // since the round began
}

// roundEnd prints the result of a round, by the same comparison as changes.
func (f *crawlFlags) roundEnd(u *ui, dir string) (err error) {
	defer storage.Guard(&err)()
	a, err := storage.OpenRead(dir)
	if err != nil {
		return archiveError(err, dir)
	}
	defer a.Close()
	r, s := f.ended, f.ended.State
	t, err := changes.Sum(context.Background(), a, changes.Options{Since: s.Round.Began})
	if err != nil {
		return archiveError(err, dir)
	}
	k, took := t.Kinds, time.Since(s.Round.Began)
	j := roundJSON{r.Ending.String(), r.Why, s.Round.N, t.Visited, k[changes.New], k[changes.Changed], t.Same,
		k[changes.Gone], k[changes.Back],
		k[changes.Moved], k[changes.Suspect], k[changes.Unreachable], r.Counts.OfSite().Queued(),
		s.Bytes - s.Round.Bytes, took.Seconds()}
	if f.json {
		u.json(j)
		return nil
	}
	visited := fmt.Sprintf("%d visited, %d new, %d changed, %d same", j.Visited, j.New, j.Changed, j.Same)
	parts := append([]string{visited},
		some([]counted{{j.Gone, "gone"}, {j.Back, "back"}, {j.Moved, "moved"}, {j.Suspect, "suspect"},
			{j.Unreachable, "unreachable"}, {j.Queued, "queued"}})...)
	u.say("round %d %s: %s; %s in %s", j.Round, j.State, strings.Join(parts, ", "), legible.Bytes(j.Bytes),
		took.Round(time.Millisecond))
	return nil
}

// mayBegin reports whether a round is due: --if-older compares with the start of the last round
// or crawl.
func (g *updateFlags) mayBegin(u *ui, dir string) (bool, error) {
	if g.ifOlder == 0 {
		return true, nil
	}
	a, err := openShown(dir)
	if err != nil {
		return false, err
	}
	defer a.Close()
	st := &a.state
	began := st.Began
	if n := len(st.Rounds); n > 0 {
		began = st.Rounds[n-1]
	}
	old := time.Since(began) // negative if the clock was set back: unknown
	if !st.Finished || old < 0 || old >= time.Duration(g.ifOlder) {
		return true, nil
	}
	u.say("%s: the last round began %s, less than %s ago: nothing to do", dir, u.time(began),
		aboutText(time.Duration(g.ifOlder)))
	return false, nil
}

// age is a flag value: a duration, which may be in days.
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
