package cli

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/crawler/status"
	"curtsy/crawler/verify"
	"curtsy/internal/legible"
	"curtsy/publish/keep"
	"curtsy/storage"
	"curtsy/storage/crawllog"
)

// pruneFlags are the flags of prune.
type pruneFlags struct {
	keep         []string
	json, dryRun bool
}

func pruneCmd(u *ui) *cobra.Command {
	f := &pruneFlags{}
	list := vars{"dry-run": &f.dryRun, "json": &f.json}
	c := newCommand("prune DIR OUT", list, u.runs(func(ctx context.Context, a []string) error {
		r, err := f.rules(time.Now())
		if err != nil {
			return err
		}
		return f.prune(ctx, u, r, a[0], a[1])
	}))
	c.Flags().StringSliceVar(&f.keep, "keep", nil, "")
	return c
}

// rules parses --keep.
func (f *pruneFlags) rules(now time.Time) (*keep.Rules, error) {
	r := &keep.Rules{}
	if len(f.keep) == 0 {
		return nil, usagef("--keep last=3, or --keep 90d --keep monthly",
			"--keep is missing: it selects the versions to keep")
	}
	for _, text := range f.keep {
		if r.Add(text) {
			continue
		}
		since, err := timeFlag("--keep", text, now)
		if err != nil {
			return nil, usagef("--keep last=3, --keep 90d, --keep 2026-01-31 or --keep monthly",
				"--keep %q is not a rule", text)
		}
		if r.Since.IsZero() || since.Before(r.Since) {
			r.Since = since
		}
	}
	return r, nil
}

// prunedJSON is the output of --json.
type prunedJSON struct {
	Out         string `json:"out"`
	Kept        int    `json:"kept"` // visits
	Dropped     int    `json:"dropped"`
	BytesBefore int64  `json:"bytes_before"` // size of the segments
	BytesAfter  int64  `json:"bytes_after"`
}

func (f *pruneFlags) prune(ctx context.Context, u *ui, r *keep.Rules, dir, out string) (err error) {
	a, err := openShown(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	drop, kept, err := keep.Dropped(a.Archive, r)
	if err != nil {
		return archiveError(err, dir)
	}
	j := &prunedJSON{Out: out, Kept: kept, Dropped: len(drop)}
	if j.BytesBefore, err = a.SegmentBytes(); err != nil {
		return archiveError(err, dir)
	}
	if f.dryRun {
		u.say("%s would be kept, %d dropped", legible.Count(kept, "visit"), len(drop))
		return nil
	}
	if j.BytesAfter, err = pruned(ctx, a, out, drop); err != nil {
		return pruneError(err, dir, out)
	}
	if f.json {
		u.json(j)
		return nil
	}
	u.say("%s: %s kept, %d dropped; segments now take %s instead of %s", out, legible.Count(kept, "visit"), len(drop),
		legible.Bytes(j.BytesAfter), legible.Bytes(j.BytesBefore))
	u.say("%s was not changed; curtsy update %s continues from the new archive", dir, quoted(out))
	return nil
}

// pruned writes the pruned archive, verifies it, and renames it to out.
func pruned(ctx context.Context, a *opened, out string, drop map[crawllog.Ref]bool) (size int64, err error) {
	var st status.State
	if _, err := a.Crawl(&st); err != nil {
		return 0, err
	}
	if err := st.Recount(a.Archive, slices.Collect(maps.Keys(drop))); err != nil {
		return 0, err
	}
	err = a.Prune(ctx, out, drop, storage.Options{Software: "curtsy/" + version}, st, func(written string) error {
		r, err := verify.Archive(written, nil)
		if err != nil {
			return err
		}
		if len(r.Problems) > 0 {
			return &storage.DamageError{File: r.Problems[0].File,
				What: strings.TrimSpace(r.Problems[0].What + " " + r.Problems[0].URL)}
		}
		size = r.Bytes
		return ctx.Err()
	})
	return size, err
}

// pruneError adds an exit code to an error; out was not written.
func pruneError(err error, dir, out string) error {
	if errors.Is(err, fs.ErrExist) {
		return usagef("another OUT: prune does not replace anything", "%v", err)
	}
	return stoppedError(err, dir, "stopped: "+out+" was not written", "the same command again")
}
