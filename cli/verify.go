package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"curtsy/crawler/verify"
	"curtsy/publish/export"
	"curtsy/storage"
)

func verifyCmd(u *ui) *cobra.Command {
	var asJSON, repair bool
	c := newCommand("verify DIR|FILE.wacz", func(_ *cobra.Command, a []string) error {
		if strings.HasSuffix(strings.ToLower(a[0]), ".wacz") {
			if repair {
				return usagef("curtsy verify "+quoted(a[0]), "--repair is for archives, not for a WACZ")
			}
			return verifyWACZ(u, a[0], asJSON)
		}
		if repair {
			if err := repairArchive(u, a[0]); err != nil {
				return err
			}
		}
		bar := newStepBar(u)
		r, err := verify.Archive(a[0], func(read, of int64) {
			bar.show(byteCount(read)+" of "+byteCount(of), read, of)
		})
		bar.close()
		if r != nil {
			if e := printReport(u, r, asJSON); e != nil {
				return e
			}
		}
		if err != nil {
			return archiveError(err, a[0])
		}
		if len(r.Problems) > 0 {
			return exitWith(exitDamaged, fmt.Errorf("%s: %s", a[0], count(len(r.Problems), "problem")),
				"curtsy verify "+quoted(a[0])+" --repair")
		}
		return nil
	})
	c.Flags().BoolVar(&asJSON, "json", false, inHelp)
	c.Flags().BoolVar(&repair, "repair", false, inHelp)
	return c
}

// verifyWACZ checks a WACZ.
func verifyWACZ(u *ui, path string, asJSON bool) error {
	r, err := export.CheckWACZ(path)
	if err != nil {
		return fileError(err)
	}
	if asJSON {
		err = u.json(r)
	} else {
		for _, p := range r.Problems {
			u.print("%s: %s", p.File, p.What)
		}
		signed := "not signed"
		if r.SignedBy != "" {
			signed = "signed on " + r.SignedAt + " with the key of " + r.SignedBy
		}
		u.print("%s, %s, %s in the index: %s; %s", count(r.Files, "file"), count(r.Records, "record"),
			count(r.Lines, "line"), count(len(r.Problems), "problem"), signed)
	}
	if err == nil && len(r.Problems) > 0 {
		err = exitWith(exitDamaged, fmt.Errorf("%s: %s", path, count(len(r.Problems), "problem")), "")
	}
	return err
}

func printReport(u *ui, r *storage.Report, asJSON bool) error {
	if asJSON {
		r.Problems = orEmpty(r.Problems)
		return u.json(r)
	}
	for _, p := range r.Problems {
		at := p.File
		if p.Offset >= 0 {
			at = fmt.Sprintf("%s at %d", filepath.ToSlash(p.File), p.Offset)
		}
		u.print("%s: %s %s", at, p.What, p.URL)
	}
	for _, name := range r.Aside {
		u.print("%s: set aside by a repair, not used", filepath.ToSlash(name))
	}
	if r.Live {
		u.print("a crawl is running: its last commit was checked; the pages of crawl.db are checked once it has ended")
	}
	if r.InFlight > 0 {
		u.print("%s written after the last commit: curtsy resume cuts them off", count(r.InFlight, "byte"))
	}
	if r.Facts > 0 {
		u.print("facts/: what %s say is not there, or not whole; it is read again from the segments when a command asks for it", count(r.Facts, "page"))
	}
	u.print("%s, %s of %s, %s: %s", count(r.Segments, "segment"), count(r.Records, "record"), count(r.Visits, "visit"),
		byteCount(r.Bytes), count(len(r.Problems), "problem"))
	return nil
}
