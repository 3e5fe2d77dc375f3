package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"curtsy/publish/report"
	"curtsy/storage"
)

func reportCmd(u *ui) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "a one-page report on an archive: figures, plots, what is broken, what was skipped",
		Long: "report DIR writes one HTML file that needs no network and no scripts: the site in figures, plots, broken links\n" +
			"and the pages they are on, redirects, orphans, duplicates, what was skipped and by which rule, and how politely\n" +
			"the site was fetched. It names no URL that the site wants unlisted (noindex). -o - writes it to stdout.",
		Args: wants("DIR"),
		RunE: func(_ *cobra.Command, a []string) error {
			if os.Getenv("GOMEMLIMIT") == "" {
				defer debug.SetMemoryLimit(debug.SetMemoryLimit(serveMemory))
			}
			ctx, release := untilSignal()
			defer release()
			return writeReport(ctx, u, a[0], out)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "report.html", "write to `FILE`")
	return c
}

// writeReport writes the report of an archive.
func writeReport(ctx context.Context, u *ui, dir, out string) (err error) {
	defer storage.Guard(&err)()
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	o, err := reportOptions(a, dir)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return report.Write(ctx, w, a.Archive, o) }
	if out == "-" {
		return reportError(write(u.out), dir, out)
	}
	if err := writeWhole(out, write); err != nil {
		return reportError(err, dir, out)
	}
	u.say("%s: the report on %s", out, a.seed)
	return nil
}

// reportOptions are those of the report of an archive.
func reportOptions(a *opened, dir string) (o report.Options, err error) {
	links, err := linkOptions(a)
	if err != nil {
		return o, archiveError(err, dir)
	}
	o = report.Options{Dir: quoted(dir), Seed: a.seed, Origins: a.state.Origins, Now: time.Now(), Version: version, Known: a.known, Fold: links.Fold}
	if !a.state.Finished {
		o.Incomplete = unfinished(a.Archive, &a.state, a.f)
	}
	return o, nil
}

// writeWhole makes a file that is there as a whole or, after an error, as it was.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	b := bufio.NewWriter(f)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func reportError(err error, dir, out string) error {
	var file *os.PathError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return exitWith(exitStopped, errors.New("stopped; "+out+" is as it was"), "curtsy report "+quoted(dir)+" -o "+quoted(out))
	case errors.As(err, &file):
		return exitWith(exitFailed, err, "-o with another FILE")
	}
	return archiveError(err, dir)
}
