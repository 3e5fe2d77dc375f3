package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish/audit"
	"curtsy/publish/inventory"
	"curtsy/publish/mirror"
	"curtsy/publish/report"
	"curtsy/storage"
)

func reportCmd(u *ui) *cobra.Command {
	out, copied := "report.html", ""
	var brief bool
	list := vars{"output,o": &out, "no-audit": &brief, "mirror": &copied}
	return newCommand("report DIR", list, u.runs(func(ctx context.Context, a []string) error {
		if err := mayReplace(out); err != nil {
			return err
		}
		return writeReport(ctx, u, a[0], reportOf{out: out, copied: copied, audit: !brief, alone: u.host == nil})
	}))
}

// mayReplace rejects an existing file that is not a report of this program.
func mayReplace(out string) error {
	if st, err := os.Stat(out); err != nil || !st.Mode().IsRegular() {
		return nil // errors are reported when it is written
	}
	f, err := os.Open(out)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 1<<10)
	n, _ := io.ReadFull(f, head)
	if n == 0 || bytes.Contains(head[:n], []byte(`<meta name="generator" content="curtsy">`)) {
		return nil
	}
	return usagef("-o another FILE", "%s is there, and is not a report that curtsy wrote: it is left as it is", out)
}

// reportOf says where a report is written, and what it includes.
type reportOf struct {
	out    string
	copied string             // the mirror to report on; "": none
	broken *inventory.Targets // broken URLs; nil: compute them
	audit  bool               // include the findings of an audit
	alone  bool               // the process does nothing else, so its memory is limited to what a report needs
}

// Memory of a report in octets, including garbage: per URL, and per audited URL.
const (
	memoryOfTarget  = 300
	memoryOfAudited = 1200
)

// writeReport writes the report of an archive and, if given, its mirror.
func writeReport(ctx context.Context, u *ui, dir string, of reportOf) (err error) {
	defer storage.Guard(&err)()
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	if of.alone {
		ofURL := int64(memoryOfTarget)
		if of.audit {
			ofURL = memoryOfAudited
		}
		defer bounded(a.Archive, serveMemory, ofURL)()
	}
	o, err := reportOptions(a, dir)
	if err != nil {
		return err
	}
	o.Targets = of.broken
	if of.copied != "" {
		if o.Mirror, err = mirrorReport(of.copied, a.seed); err != nil {
			return err
		}
	}
	out := of.out
	if of.audit {
		if o.Findings, o.Targets, err = audit.Find(ctx, a.Archive, audit.Options{Known: o.Known, Fold: o.Fold,
			Origins: o.Origins, Now: o.Now}); err != nil {
			return reportError(err, dir, out)
		}
	}
	var found report.Problems
	write := func(w io.Writer) (err error) {
		found, err = report.Write(ctx, w, a.Archive, o)
		return err
	}
	if out == "-" {
		return reportError(write(u.out), dir, out)
	}
	if err := writeWhole(out, write); err != nil {
		return reportError(err, dir, out)
	}
	u.say("%s: the report on %s%s", out, a.seed, problemsText(found))
	return nil
}

// problemsText summarizes the problems that a report found.
func problemsText(p report.Problems) string {
	var parts []string
	if p.Broken > 0 {
		parts = append(parts, legible.Count(p.Broken, "broken link"))
	}
	if p.Nowhere > 0 {
		parts = append(parts, plural(p.Nowhere, "1 redirect that leads nowhere", "redirects that lead nowhere"))
	}
	if len(parts) == 0 {
		return ""
	}
	return ", with " + strings.Join(parts, " and ")
}

// reportOptions returns the options for the report of an archive.
func reportOptions(a *opened, dir string) (o report.Options, err error) {
	links, err := linkOptions(a)
	if err != nil {
		return o, archiveError(err, dir)
	}
	o = report.Options{Dir: quoted(dir), Seed: a.seed, Origins: a.state.Origins, Now: time.Now(), Version: version,
		Known: a.known, Fold: links.Fold, URLs: a.f.Counts().OfSite(), Holds: *a.state.Holds}
	if !a.state.Finished {
		o.Incomplete = a.unfinished()
	}
	return o, nil
}

// mirrorReport returns the report's section about a mirror, which must have the same seed.
func mirrorReport(out string, seed weburl.URL) (*report.Mirror, error) {
	s, err := mirror.Summarize(out)
	if err != nil {
		return nil, checkError(err, out)
	}
	if s == nil {
		return nil, usagef("curtsy mirror DIR "+quoted(out), "%s: made by an earlier version, without a summary", out)
	}
	if s.Seed != seed.String() {
		return nil, usagef("--mirror with a mirror of this archive", "%s: a mirror of %s, not of %s", out,
			oneLine(s.Seed), seed)
	}
	m := &report.Mirror{Dir: quoted(out), Until: s.Until, Numbers: []report.Number{
		{Value: strconv.Itoa(s.Files), Name: "files"}, {Value: strconv.Itoa(s.Pages), Name: "pages"},
		{Value: strconv.Itoa(s.Redirects), Name: "redirects"},
		{Value: strconv.Itoa(s.Live), Name: "links to the live site instead of a page in the mirror"}}}
	for _, part := range s.Sections {
		t := report.Table{Total: part.Total, Hidden: part.Hidden}
		for _, r := range part.Rows {
			t.Lines = append(t.Lines, report.Line{URL: r.URL, Text: r.Why, On: r.On, More: r.More})
		}
		m.Sections = append(m.Sections, report.Section{Title: part.Title, Says: part.Says, Table: t})
	}
	return m, nil
}

// writeWhole writes a file atomically; on an error an old one stays. Symbolic links are
// followed; devices and pipes are written directly.
func writeWhole(path string, write func(io.Writer) error) error {
	if st, err := os.Stat(path); err == nil {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || !st.Mode().IsRegular() {
			return writeInto(path, write)
		}
		path = real
	}
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
	if err := errors.Join(b.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// writeInto writes to an existing file or device.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	return errors.Join(err, f.Close())
}

func reportError(err error, dir, out string) error {
	if isA[*os.PathError](err) {
		return exitWith(exitFailed, err, "-o with another FILE")
	}
	return stoppedError(err, dir, "stopped; "+out+" was not changed", "curtsy report "+quoted(dir)+" -o "+quoted(out))
}
