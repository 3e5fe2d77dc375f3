package cli

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"curtsy/identity"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish/export"
	"curtsy/publish/inventory"
	"curtsy/publish/mirror"
	"curtsy/usage"
)

// exportFlags are the flags of export.
type exportFlags struct {
	format, at             string
	single, sign           string
	anonymous, force, json bool
	purposeFlags
	table, since, text string
}

// purposeFlags are the flags for exports that are made for a purpose.
type purposeFlags struct {
	purpose string
	consent bool
}

// consentFor applies --purpose and --require-consent; nil if neither is given.
func (f *purposeFlags) consentFor() (*export.Consent, error) {
	if f.purpose == "" {
		if f.consent {
			return nil, usagef("--purpose train-ai --require-consent", "--require-consent needs --purpose")
		}
		return nil, nil
	}
	category, err := usage.Parse(f.purpose)
	if err != nil {
		return nil, usagef("--purpose train-ai", "%v", err)
	}
	return &export.Consent{Purpose: category, Required: f.consent}, nil
}

func exportCmd(u *ui) *cobra.Command {
	f := &exportFlags{text: "main"}
	list := vars{"format": &f.format, "table": &f.table, "text": &f.text, "since": &f.since, "at": &f.at,
		"single": &f.single, "sign": &f.sign, "anonymous": &f.anonymous, "force": &f.force, "json": &f.json,
		"purpose": &f.purpose, "require-consent": &f.consent}
	return newCommand("export DIR OUT", list, u.runs(func(ctx context.Context, a []string) error {
		return exportArchive(ctx, u, f, a[0], a[1])
	}))
}

// check rejects flags that do not fit the format, or each other.
func (f *exportFlags) check(format export.Format) error {
	unit := format.Unit()
	texts := unit == export.Records || format == export.Text || format == export.MD
	switch {
	case f.table != "" && unit != export.Records:
		return usagef("OUT.parquet", "--table is for parquet and jsonl.zst")
	case f.table != "" && !slices.Contains(export.Tables, f.table):
		return usagef("--table pages", "no table %q: want %s", f.table, strings.Join(export.Tables, ", "))
	case f.since != "" && f.table != "changes":
		return usagef("--table changes --since 7d", "--since is for --table changes")
	case f.text != "main" && f.text != "all":
		return usagef("--text main", "no text %q: want main or all", f.text)
	case f.text == "all" && (!texts || f.table != "" && f.table != export.Tables[0]):
		return usagef("OUT.txt", "--text is for txt, md, and the pages of parquet and jsonl.zst")
	case f.single == "" && format == export.HTML:
		return usagef("--single https://example.org/page", "HTML holds one page: want --single URL")
	case f.single != "" && format != export.HTML:
		return usagef("an OUT that ends in .html", "--single writes a page as HTML")
	case f.sign != "" && format != export.WACZ && format != export.BagIt:
		return usagef("an OUT that ends in .wacz", "--sign signs a WACZ")
	case f.at != "" && (unit == export.Rows || f.table == "links" || f.table == "changes"):
		return usagef("--format wacz, warc, cdxj, txt or md", "--at selects copies, and a table of URLs has none")
	}
	return nil
}

// dataset returns the options of the table.
func (f *exportFlags) dataset(a *opened, dir string, now time.Time) (d export.Dataset, err error) {
	d.Table = f.table
	switch f.table {
	case "links":
		d.Links, err = linkOptions(a)
	case "changes":
		d.Changes, err = (&changesFlags{since: f.since}).span(&a.state, dir)
		d.Changes.Now = now
	}
	return d, err
}

// tableMemory limits the heap, in octets, during the export of a table; about 100 MB are live.
// memoryOfRow is added per URL.
const (
	tableMemory = 144 << 20
	memoryOfRow = 16
)

// exportArchive exports an archive to a file.
func exportArchive(ctx context.Context, u *ui, f *exportFlags, dir, out string) (err error) {
	format, ok := export.FormatOf(strings.ToLower(f.format), out)
	switch {
	case out == "-":
		return usagef("the name of a file as OUT", "export writes a file, and nothing to standard output")
	case !ok && f.format != "":
		return usagef("--format wacz", "no format %q: want %s", f.format, strings.Join(export.Formats(), ", "))
	case !ok:
		return usagef("--format wacz", "%s: unknown extension: use %s", out, strings.Join(export.Formats(), ", "))
	}
	if err := f.check(format); err != nil {
		return err
	}
	consent, err := f.consentFor()
	if err != nil {
		return err
	}
	signer, err := f.signer()
	if err != nil {
		return err
	}
	a, err := openBoth(dir)
	if err != nil {
		return err
	}
	defer a.Close()
	var page weburl.URL
	if f.single != "" {
		if page, err = urlAt(a.seed, f.single); err != nil {
			return err
		}
	}
	now := time.Now()
	at, err := asOf(a.Archive, f.at, now)
	if err != nil {
		return err
	}
	data, err := f.dataset(a, dir, now)
	if err != nil {
		return err
	}
	if format.Unit() == export.Records {
		defer bounded(a.Archive, tableMemory, memoryOfRow)()
	}
	bar := newStepBar(u)
	defer bar.close()
	r, err := export.Write(ctx, a.Archive, out, export.Options{
		Format: format, Seed: a.seed, Now: now, At: at, Software: "curtsy/" + version, Anonymous: f.anonymous,
		Force: f.force, Consent: consent, Single: page, Sign: signer,
		Mirror: func() (mirror.Options, error) { return mirrorOptions(a) },
		Table:  func(w io.Writer) (int, int, error) { return exportTable(ctx, a, format, consent, now, w) },
		Watch:  func(done, total int) { bar.show(fmt.Sprintf("%d of %d", done, total), int64(done), int64(total)) },
		Data:   data, Main: f.text == "main",
		Known: a.known,
	})
	bar.close()
	if err != nil {
		return exportError(err, a, dir, out)
	}
	sayExport(u, f, out, r, a)
	return nil
}

// signer reads the key of --sign.
func (f *exportFlags) signer() (*identity.Signer, error) {
	if f.sign == "" {
		return nil, nil
	}
	s, err := identity.ReadSigner(f.sign)
	return s, keyError(err, f.sign, "curtsy identity new --wacz FILE")
}

func sayExport(u *ui, f *exportFlags, out string, r *export.Result, a *opened) {
	if f.json {
		u.json(r)
	} else {
		what := legible.Count(r.Captures, "capture") + ", " + legible.Count(r.Pages, "page")
		switch unit := r.Format.Unit(); unit {
		case export.Pages:
			what = legible.Count(r.Pages, string(unit))
		case export.Rows:
			what = legible.Count(r.Rows, string(unit))
		case export.Records:
			what = legible.Count(r.Rows, string(unit)) + " of " + r.Table
		}
		u.print("%s: %s, %s; %d left out", out, what, legible.Bytes(r.Bytes), r.Withheld)
	}
	if c := r.Consent; c != nil {
		more := ""
		if c.Required {
			more = " and were left out too"
		}
		u.say("for %s: %d say n and were left out, %d say nothing%s", c.Purpose, c.Refused, c.Unstated, more)
	}
	if len(r.TooLarge) > 0 {
		u.say("left out, too large for one file: %s", strings.Join(r.TooLarge, ", "))
	}
	if r.Format.NamesCrawler() && !f.anonymous {
		u.say("its records show who crawled and with which settings; --anonymous leaves that out")
	}
	a.sayIncomplete(u)
}

// exportTable writes the rows of list that may be published.
func exportTable(ctx context.Context, a *opened, format export.Format, consent *export.Consent, now time.Time,
	w io.Writer) (rows, unlisted int, err error) {
	var table rowWriter = jsonRows{&dataWriter{w: w}}
	if format == export.CSV {
		c := &csvRows{csv.NewWriter(w)}
		c.w.UseCRLF = true // RFC 4180
		if err := c.w.Write(columnNames(listColumns)); err != nil {
			return 0, 0, err
		}
		table = c
	}
	err = inventory.Rows(a.Archive, a.known, now, func(r *inventory.Row) error {
		if !r.Listed {
			unlisted++
			return ctx.Err()
		}
		if !consent.Admits(r.Usage) {
			return ctx.Err()
		}
		if !r.ViaListed {
			r.Via = ""
		}
		rows++
		if err := table.write(r, listCells(r)); err != nil {
			return err
		}
		return ctx.Err()
	})
	if err == nil {
		err = table.close()
	}
	return rows, unlisted, err
}

// exportError adds an exit code to an error of an export.
func exportError(err error, a *opened, dir, out string) error {
	again := "curtsy export " + quoted(dir) + " " + quoted(out)
	switch {
	case errors.Is(err, mirror.ErrNoPage):
		return usagef("curtsy explain "+quoted(dir)+" URL", "%v", err)
	case errors.Is(err, export.ErrNoFile):
		return usagef("the name of a file as OUT", "%v", err)
	case errors.Is(err, export.ErrNotOurs):
		return exitWith(exitUsage, err, "another OUT, or --force to replace it")
	case noRights(err):
		return exitWith(exitFailed, err, rightsHint(err, "the right to write "+out+", or another OUT"))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return usagef("another OUT, in an existing directory", "%v", err)
	case isA[*export.DiskError](err):
		bytes, _ := a.SegmentBytes() // 0, unknown, on an error
		return exitWith(exitStopped, err, diskHint(err, out, bytes)+", then "+again)
	}
	return stoppedError(err, dir, "stopped; "+out+" is as it was", again)
}
