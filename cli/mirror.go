package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"curtsy/frontier/judge"
	"curtsy/internal/legible"
	"curtsy/publish/inventory"
	"curtsy/publish/mirror"
	"curtsy/storage"
)

// mirrorFlags are the flags of mirror.
type mirrorFlags struct {
	json, check, online bool
	noScripts, single   bool
	serve, public       bool
	listen              string
	maxBytes            size
	at                  string
	purposeFlags
	repair  bool
	browser string
	sample  int

	quiet bool                                   // print nothing about the result
	still func(url string) ([]byte, bool, error) // mirror.Options.Still
	found *inventory.Targets                     // the site's broken URLs, for its report
}

func mirrorCmd(u *ui) *cobra.Command {
	f := &mirrorFlags{listen: "127.0.0.1:8601", sample: 20}
	list := vars{"json": &f.json, "check": &f.check, "serve": &f.serve, "listen": &f.listen,
		"public": &f.public, "repair": &f.repair, "browser": &f.browser, "sample": &f.sample, "online": &f.online,
		"no-scripts": &f.noScripts, "single": &f.single, "at": &f.at, "max-bytes": &f.maxBytes,
		"purpose": &f.purpose, "require-consent": &f.consent}
	c := newCommand("mirror DIR OUT", list, func(c *cobra.Command, a []string) error {
		ctx, release := u.until()
		defer release()
		if f.serve {
			return serveMirror(ctx, u, a[0], f)
		}
		if f.check {
			return checkMirror(ctx, u, f, a)
		}
		if f.repair {
			if !c.Flags().Changed("sample") {
				f.sample = 0
			}
			return repairMirror(ctx, u, f, a[0], a[1])
		}
		dir, err := asArchive(ctx, u, a[0])
		if err != nil {
			return err
		}
		return exportMirror(ctx, u, f, dir, a[1])
	})
	c.Args = func(c *cobra.Command, a []string) error {
		if f.serve || f.check && (f.browser == "" || len(a) != 2) {
			return arguments("mirror OUT")(c, a)
		}
		return arguments(c.Use)(c, a)
	}
	c.MarkFlagsMutuallyExclusive("serve", "check", "repair")
	c.MarkFlagsMutuallyExclusive("repair", "no-scripts")
	c.MarkFlagsMutuallyExclusive("single", "online")
	c.MarkFlagsMutuallyExclusive("single", "repair")
	return c
}

// Limits on the heap while a mirror is made, in octets, including garbage: for data read and
// written, and per URL for its entry and name.
const (
	mirrorMemory = 96 << 20
	memoryOfFile = 180
)

// muchToWrite is the size of a mirror, in octets, from which on it is announced.
const muchToWrite = 10 << 20

// exportMirror makes the mirror of an archive.
func exportMirror(ctx context.Context, u *ui, f *mirrorFlags, dir, out string) error {
	if holds(dir, out) {
		return usagef("curtsy mirror "+quoted(dir)+" with a directory of its own", "%s lies in the archive %s", out,
			dir)
	}
	a, err := openShown(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	defer bounded(a.Archive, mirrorMemory, memoryOfFile)()
	consent, err := f.consentFor()
	if err != nil {
		return err
	}
	o, err := mirrorOptions(a)
	if err != nil {
		return err
	}
	if o.At, err = asOf(a.Archive, f.at, o.Now); err != nil {
		return err
	}
	find := o.Broken
	o.Broken = func(ctx context.Context) (found *inventory.Targets, err error) {
		if found, err = find(ctx); err == nil {
			f.found = found
		}
		return found, err
	}
	o.Admits = consent.Admits
	o.Online, o.NoScripts, o.MaxBytes, o.Still = f.online, f.noScripts, int64(f.maxBytes), f.still
	bar := newStepBar(u)
	defer bar.close()
	var sent int64
	o.Watch = func(p mirror.Progress) {
		sent = max(sent, p.Bytes)
		if p.Step == "begin" && p.Bytes >= muchToWrite {
			u.say("%s: about %s to write, as the site sent it; what came compressed takes more", out,
				legible.Bytes(p.Bytes))
		}
		bar.showMirror(p)
	}
	export := mirror.Export
	if f.single {
		export = mirror.ExportSingle
	}
	r, err := export(ctx, a.Archive, out, o)
	bar.close()
	if err != nil {
		return mirrorError(err, dir, out, sent)
	}
	return sayMirror(u, f, out, r)
}

// asOf parses --at, the time at which the site is shown. A time before the first visit is an
// error.
func asOf(a *storage.Archive, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := atFlag("--at", text, now)
	if err != nil {
		return at, err
	}
	for first, err := range a.Visits(nil) {
		if err != nil {
			return at, archiveError(err, a.Dir())
		}
		if at.Before(first.At) {
			return at, usagef("--at "+instant(&first.At)+", or later", "--at %s: the first visit was later", text)
		}
		break
	}
	return at, nil
}

// sayMirror prints the result of an export.
func sayMirror(u *ui, f *mirrorFlags, out string, r *mirror.Result) error {
	if f.json {
		u.json(r)
	} else if !f.quiet {
		u.print("%s: %s, of them %s, %s; %s, %d that may need a web server, %d broken on the site; see %s/%s",
			out, legible.Count(r.Files, "file"), legible.Count(r.Pages, "page"),
			legible.Count(r.Redirects, "redirect"), withheldText(r), r.NeedHTTP, r.Broken, out, mirror.ReportFile)
	}
	if r.Moving > 0 && !f.quiet && !f.json {
		u.say("%s: %s their scripts again, since they have changed after a repair; try: curtsy mirror --repair DIR %s",
			out, plural(r.Moving, "1 page runs", "pages run"), quoted(out))
	}
	if !r.Complete && !f.quiet {
		u.say("the archive is not complete (%s); this is what it has so far", r.Why)
	}
	if page := filepath.Join(out, "index.html"); !f.json && !f.quiet && r.Files > 0 {
		if _, err := os.Stat(page); err == nil {
			u.say("open %s in a browser", page)
		}
	}
	return problems(u, f, out, r.Problems)
}

// withheldText formats the number of URLs that may not be shown.
func withheldText(r *mirror.Result) string {
	if r.Expired > 0 {
		return fmt.Sprintf("%d withheld, %d expired", r.Withheld, r.Expired)
	}
	return fmt.Sprintf("%d withheld", r.Withheld)
}

// problems prints the problems of a mirror.
func problems(u *ui, f *mirrorFlags, out string, list []mirror.Problem) error {
	if len(list) == 0 {
		return nil
	}
	for _, p := range list {
		if !f.json {
			u.print("%s: %s %s", p.File, p.What, p.Ref)
		}
	}
	return exitWith(exitFailed, fmt.Errorf("%s: %s", out, legible.Count(len(list), "problem")), "")
}

// checkMirror checks an existing mirror.
func checkMirror(ctx context.Context, u *ui, f *mirrorFlags, args []string) error {
	dir, out := "", args[len(args)-1]
	if len(args) > 1 {
		dir = args[0]
	}
	bar := newStepBar(u)
	r, err := mirror.Check(ctx, out, mirror.Options{Twin: judge.SamePage, Watch: bar.showMirror})
	bar.close()
	if errors.Is(err, context.Canceled) {
		return exitWith(exitStopped, errors.New("stopped; the check is not complete"),
			"curtsy mirror --check "+quoted(out))
	}
	if err != nil {
		return checkError(err, out)
	}
	if f.browser != "" {
		if r.Browser, err = f.browse(ctx, u, dir, out, mirror.Browsing{Sample: f.sample}); err != nil {
			return err
		}
	}
	if f.json {
		r.Problems = orEmpty(r.Problems)
		u.json(r)
	} else if len(r.Problems) == 0 {
		u.print("%s: %s with those of the mirror itself, %s, none broken", out, legible.Count(r.Files, "file"),
			legible.Count(r.Refs, "reference"))
	}
	if r.Browser != nil {
		err = sayOpened(u, f, out, r.Browser)
	}
	return cmp.Or(problems(u, f, out, r.Problems), err)
}

// mirrorError adds an exit code to an error of an export of about bytes octets.
func mirrorError(err error, dir, out string, bytes int64) error {
	again := quoted(dir) + " " + quoted(out)
	switch {
	case errors.Is(err, mirror.ErrNotOurs):
		return exitWith(exitUsage, err, "another directory; this one was not touched")
	case noRights(err):
		return exitWith(exitFailed, err, rightsHint(err, "as a user who may write "+out+
			" and its parent directory, or another OUT"))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return usagef("another OUT, in an existing directory", "%v", err)
	case errors.Is(err, mirror.ErrTooMuch):
		return exitWith(exitStopped, err, "curtsy mirror --max-bytes 100GB "+again)
	case isA[*mirror.DiskError](err):
		return exitWith(exitStopped, err, diskHint(err, out, bytes)+", then curtsy mirror "+again)
	}
	return stoppedError(err, dir, "stopped; "+out+" was not changed", "curtsy mirror "+again)
}

// checkError adds an exit code to an error of a check.
func checkError(err error, out string) error {
	switch {
	case errors.Is(err, mirror.ErrNotOurs):
		return exitWith(exitUsage, err, "a directory made by curtsy mirror")
	case noRights(err):
		return exitWith(exitFailed, err, "as a user who may read "+out)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return usagef("curtsy mirror DIR "+quoted(out)+" to make it", "%v", err)
	}
	return archiveError(err, out)
}

// noRights reports whether the system denied the access.
func noRights(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// showMirror shows the progress of an export or check.
func (b *stepBar) showMirror(p mirror.Progress) {
	b.show(fmt.Sprintf("%s %d of %d", p.Step, p.Done, p.Total), int64(p.Done), int64(p.Total))
}
