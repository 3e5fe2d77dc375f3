package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"curtsy/crawler/importer"
	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/storage"
)

// importFlags are the flags of import.
type importFlags struct {
	json  bool
	link  bool
	seed  string
	quiet bool // print only what is rejected
}

func importCmd(u *ui) *cobra.Command {
	f := &importFlags{}
	return newCommand("import DIR FILE...", vars{"json": &f.json, "link": &f.link, "seed": &f.seed},
		u.runs(func(ctx context.Context, a []string) error { return importFiles(ctx, u, f, a[0], a[1:]) }))
}

// importJSON is a line of the output; File is "" for the total.
type importJSON struct {
	File string `json:"file"`
	importer.Counts
	Passed map[string]int `json:"passed"` // not nil: {} instead of null
	Before bool           `json:"before,omitempty"`
	Error  string         `json:"error,omitempty"`
	Seed   string         `json:"seed,omitempty"`
}

func importFiles(ctx context.Context, u *ui, f *importFlags, dir string, files []string) error {
	if st, err := os.Stat(dir); err == nil && st.Mode().IsRegular() {
		return usagef("curtsy import NEW-DIR "+quoted(dir), "%s is a file: the directory of the archive comes first",
			dir)
	}
	unread := 0
	refused := func(r importer.Refusal) {
		if f.json {
			u.json(r)
			return
		}
		u.say("%s at %s: %s", r.File, r.At, strings.TrimSpace(r.URL+" "+r.What))
	}
	sources, err := importer.Sources(files, u.in, func(r importer.Refusal) { unread++; refused(r) })
	if err != nil {
		return exitWith(exitFailed, err, "files or directories that can be read")
	}
	if len(sources) == 0 {
		return exitWith(exitFailed, errors.New("nothing was imported: no file could be read"), "")
	}
	seed, c, err := importSettings(f, dir, sources)
	if err != nil {
		return err
	}
	o, err := offlineOptions(&c, seed, u.logger(false))
	if err != nil {
		return err
	}
	bar := newStepBar(u)
	defer bar.close()
	r, err := importer.Import(ctx, dir, sources, importer.Options{Crawl: o, Refused: refused, Watch: bar.showImport,
		Link: f.link})
	bar.close()
	if err != nil {
		return stoppedError(err, dir, "stopped; what was read so far is in "+dir,
			"the same command again, which continues")
	}
	return sayImport(u, f, dir, r, unread)
}

// importSettings returns seed and settings of the archive: its own, or the site of the first
// page and the defaults.
func importSettings(f *importFlags, dir string, sources []*importer.Source) (seed weburl.URL, c config, err error) {
	if isArchive(dir) && !unbegun(dir) {
		if seed, c, err = remembered(dir); err == nil && f.seed != "" {
			err = usagef("curtsy import without --seed, or another DIR", "%s has a seed already: %s", dir, seed)
		}
		return seed, c, err
	}
	c = defaults()
	if f.seed != "" {
		seed, err = seedURL(f.seed)
	} else if seed, err = importer.FirstPage(sources); errors.Is(err, importer.ErrNotWARC) {
		err = usagef("a WARC, WACZ or HAR, or a directory of them", "%v", err)
	} else if err != nil {
		err = usagef("--seed URL", "%v", err)
	}
	c.Archive = dir
	return seed, c, err
}

// unbegun reports whether the first import or crawl into an archive was killed before its first
// commit.
func unbegun(dir string) bool {
	a, err := storage.OpenRead(dir)
	if err != nil {
		return errors.Is(err, storage.ErrNone)
	}
	defer a.Close()
	var said struct{}
	known, err := a.Crawl(&said)
	return err == nil && !known
}

// sayImport prints the result of an import.
func sayImport(u *ui, f *importFlags, dir string, r *importer.Result, unread int) error {
	for i := range r.Files {
		file := &r.Files[i]
		if file.Error != "" {
			unread++
		}
		switch {
		case f.quiet:
		case f.json:
			u.json(importJSON{File: file.File, Counts: file.Counts, Before: file.Before, Error: file.Error,
				Passed: maps.Collect(maps.All(file.Passed))})
		case file.Before:
			u.print("%s: imported before", file.File)
		default:
			u.print("%s: %s", file.File, countsText(&file.Counts))
		}
	}
	switch {
	case f.quiet:
		u.say("%s", countsText(&r.Counts))
	case f.json:
		u.json(importJSON{Counts: r.Counts, Seed: r.Seed, Passed: maps.Collect(maps.All(r.Passed))})
	default:
		u.print("%s: %s", dir, countsText(&r.Counts))
		u.say("next: curtsy serve %s (browse it), curtsy mirror %s OUT, curtsy search %s WORDS, "+
			"curtsy update %s (visit %s again)",
			quoted(dir), quoted(dir), quoted(dir), quoted(dir), r.Seed)
	}
	if unread > 0 {
		return exitWith(exitFailed, fmt.Errorf("%s %w", legible.Count(unread, "file"), importer.ErrParts), "")
	}
	return nil
}

// countsText formats the counts of records.
func countsText(c *importer.Counts) string {
	parts := []string{legible.Count(c.Records, "record"), fmt.Sprintf("%d kept", c.Kept)}
	parts = append(parts, some([]counted{{c.Linked, "of them left where they lie"}, {c.Revisits, "revisits"},
		{c.Withheld, "withheld (noarchive)"}, {c.Beside, "beside them (requests, metadata)"}, {c.Known, "here already"},
		{c.Later, "revisits of what is not here"}, {c.Refused, "refused"}})...)
	for _, kind := range byCount(c.Passed) {
		parts = append(parts, fmt.Sprintf("%d passed over (%s)", c.Passed[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// showImport shows the progress of an import.
func (b *stepBar) showImport(p importer.Progress) {
	if p.URLs > 0 {
		b.show(fmt.Sprintf("reading %s", legible.Count(p.URLs, "URL")), 0, 0)
		return
	}
	b.show(p.File, p.Read, p.Size)
}

// importsDir is the directory, below the account's cache directory, of archives made from files
// to show them. They may be deleted.
const importsDir = "curtsy/imports"

// asArchive returns the directory of an archive: path itself or, if it is a file of another
// program, the archive that it was imported to.
func asArchive(ctx context.Context, u *ui, path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return path, nil // opening it will report the error
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return path, exitWith(exitFailed, err, "curtsy import DIR "+quoted(path)+", then the same command with DIR")
	}
	name := func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:8]) }
	all, file := filepath.Join(cache, importsDir), name(abs)
	dir := filepath.Join(all, file+"-"+name(fmt.Sprint(st.Size(), st.ModTime().UnixNano())))
	if _, err := os.Stat(dir + ".whole"); err == nil && isArchive(dir) {
		return dir, nil
	}
	dropImports(all, file, filepath.Base(dir))
	u.say("%s is imported to %s first", path, dir)
	err = importFiles(ctx, u, &importFlags{quiet: true}, dir, []string{path})
	if errors.Is(err, importer.ErrParts) { // unreadable parts were reported
		err = nil
	}
	if err != nil {
		return dir, err
	}
	return dir, os.WriteFile(dir+".whole", nil, 0o600)
}

// dropImports removes imports of earlier versions of a file.
func dropImports(all, file, but string) {
	entries, err := os.ReadDir(all)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), file+"-") && e.Name() != but {
			_ = os.RemoveAll(filepath.Join(all, e.Name())) // failure only wastes disk space
		}
	}
}
