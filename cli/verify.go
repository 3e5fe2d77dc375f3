package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"curtsy/crawler"
	"curtsy/crawler/rebuild"
	"curtsy/crawler/verify"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish/export"
	"curtsy/storage"
)

func verifyCmd(u *ui) *cobra.Command {
	var asJSON, repair bool
	list := vars{"json": &asJSON, "repair": &repair}
	return newCommand("verify DIR|FILE.wacz", list, func(_ *cobra.Command, a []string) error {
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
			bar.show(legible.Bytes(read)+" of "+legible.Bytes(of), read, of)
		})
		bar.close()
		if r != nil {
			printReport(u, r, asJSON)
		}
		if err != nil {
			return archiveError(err, a[0])
		}
		if len(r.Problems) > 0 {
			return exitWith(exitDamaged, fmt.Errorf("%s: %s", a[0], legible.Count(len(r.Problems), "problem")),
				mendHint(a[0], r.Problems))
		}
		return nil
	})
}

// verifyWACZ checks a WACZ.
func verifyWACZ(u *ui, path string, asJSON bool) error {
	r, err := export.CheckWACZ(path)
	if err != nil {
		return fileError(err)
	}
	if asJSON {
		u.json(r)
	} else {
		for _, p := range r.Problems {
			u.print("%s: %s", p.File, p.What)
		}
		signed := "not signed"
		if r.SignedBy != "" {
			signed = "signed on " + r.SignedAt + " with the key of " + r.SignedBy
		}
		u.print("%s, %s, %s in the index: %s; %s", legible.Count(r.Files, "file"), legible.Count(r.Records, "record"),
			legible.Count(r.Lines, "line"), legible.Count(len(r.Problems), "problem"), signed)
	}
	if len(r.Problems) > 0 {
		return exitWith(exitDamaged, fmt.Errorf("%s: %s", path, legible.Count(len(r.Problems), "problem")), "")
	}
	return nil
}

func printReport(u *ui, r *storage.Report, asJSON bool) {
	if asJSON {
		r.Problems = orEmpty(r.Problems)
		u.json(r)
		return
	}
	for _, p := range r.Problems {
		at := p.File
		if p.Offset >= 0 {
			at = fmt.Sprintf("%s at %d", filepath.ToSlash(p.File), p.Offset)
		}
		u.print("%s: %s %s", at, p.What, p.URL)
	}
	for _, name := range r.SetAside {
		u.print("%s: set aside by a repair, not used", filepath.ToSlash(name))
	}
	if r.Live {
		u.print("a crawl is running: its last commit was checked; the pages of crawl.db are checked once it has ended")
	}
	if r.InFlight > 0 {
		u.print("%s written after the last commit: curtsy resume cuts them off", legible.Count(r.InFlight, "byte"))
	}
	if r.Facts > 0 {
		u.print("facts/: what %s say is not there, or not whole; "+
			"it is read again from the segments when a command asks for it", legible.Count(r.Facts, "page"))
	}
	u.print("%s, %s of %s, %s: %s", legible.Count(r.Segments, "segment"), legible.Count(r.Records, "record"),
		legible.Count(r.Visits, "visit"), legible.Bytes(r.Bytes), legible.Count(len(r.Problems), "problem"))
}

// mendHint returns the hint for what verify found. Repair does not change linked files, which
// are the only ones with absolute paths.
func mendHint(dir string, found []storage.DamageError) string {
	if slices.ContainsFunc(found, func(p storage.DamageError) bool { return !filepath.IsAbs(p.File) }) {
		return "curtsy verify " + quoted(dir) + " --repair"
	}
	return backInPlace(dir)
}

// backInPlace returns the hint for a linked file that has changed.
func backInPlace(dir string) string {
	return "the file back in its place, or curtsy import --link " + quoted(dir) + " FILE"
}

// repairArchive removes what is damaged, and rebuilds an index that cannot be read.
func repairArchive(u *ui, dir string) error {
	done, err := verify.Repair(dir, u.logger(false))
	var damage *storage.DamageError
	if errors.As(err, &damage) && damage.Index() || errors.Is(err, storage.ErrOld) {
		return rebuildIndex(u, dir, err)
	}
	if err != nil {
		return archiveError(err, dir)
	}
	for _, line := range done {
		u.say("%s", line)
	}
	return nil
}

func rebuildIndex(u *ui, dir string, damage error) error {
	seed, c, note, err := rememberedBySegments(dir)
	if err != nil {
		return archiveError(errors.Join(damage, err), dir)
	}
	o, err := offlineOptions(&c, seed, u.logger(false))
	if err != nil {
		return err
	}
	u.say("%v", damage)
	if note != "" {
		u.say("%s", note)
	}
	d, err := rebuild.Archive(dir, o)
	if errors.Is(err, storage.ErrNoSegments) {
		return archiveError(damage, dir)
	}
	if err != nil {
		return archiveError(err, dir)
	}
	for _, p := range d.Problems {
		u.say("%s at %d: %s %s", p.File, p.Offset, p.What, p.URL)
	}
	for _, line := range d.Said {
		u.say("%s", line)
	}
	u.say("to continue: curtsy resume %s", quoted(dir))
	return nil
}

// rememberedBySegments returns seed and settings of an archive whose index is lost: from the
// index if that much of it can be read, else from the newest segment, else guessed. note is a
// remark for the user.
func rememberedBySegments(dir string) (seed weburl.URL, c config, note string, err error) {
	if seed, c, err = remembered(dir); err == nil {
		return seed, c, "", nil
	}
	c = defaults()
	info, ok := storage.LastInfo(dir)
	if !ok {
		return seed, c, "", storage.ErrNoSegments
	}
	told := crawler.SegmentInfo{Settings: &c}
	if err := json.Unmarshal(info.Crawl, &told); err == nil {
		if seed, err = weburl.Parse(told.Seed); err == nil {
			return seed, c, fmt.Sprintf("seed and settings were read from %s; segments do not record fetch.proxy "+
				"and fetch.header, so give them to curtsy resume again", info.Segment), nil
		}
	}
	if seed, ok = verify.FirstSeed(dir); !ok {
		return seed, c, "", fmt.Errorf("%s: no segment holds a page to start from", dir)
	}
	c.Contact = info.Operator
	if dialect, ok := strings.CutPrefix(info.Robots, "obeyed ("); ok {
		c.Politeness.Dialect, _, _ = strings.Cut(dialect, ")")
	}
	return seed, c, fmt.Sprintf("no segment records the seed or settings: "+
		"the seed is taken to be %s, the first page fetched,"+
		" and all settings are the defaults; give yours to curtsy resume", seed), nil
}

// public returns the settings that may be stored in segments, which are published: no password,
// no header that may hold one, no path of this machine.
func (c *config) public() config {
	p := *c
	p.Archive, p.Fetch.Proxy, p.Fetch.Header, p.Known = "", "", nil, nil
	return p
}
