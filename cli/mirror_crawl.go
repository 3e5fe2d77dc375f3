package cli

import (
	"cmp"
	"path/filepath"
	"runtime/debug"
	"strings"

	"curtsy/internal/legible"
	"curtsy/internal/weburl"
	"curtsy/publish/mirror"
)

// crawlAndMirror crawls and, if requested, makes a mirror, whether the crawl is complete or
// stopped. The exit code of the crawl takes precedence.
func crawlAndMirror(u *ui, f *crawlFlags, c *config, seed weburl.URL) error {
	if err := mirrorPlace(f.mirror, c, seed); err != nil {
		return err // before the crawl, which may take hours
	}
	err := runCrawl(u, f, c, seed)
	code := exitCode(err)
	if f.others {
		code = exitDone // there is something to show
	}
	if f.ended.Why != "" {
		err = cmp.Or(err, f.roundEnd(u, c.Archive))
	}
	if f.index && (code == exitDone || code == exitStopped) {
		if failed := buildIndex(u, c.Archive); failed != nil {
			u.fail(failed)
			err = cmp.Or(err, failed)
		}
	}
	if f.mirror != "" || !f.noReport {
		debug.FreeOSMemory() // free the memory of the crawl
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	made, mirrored := f.mirrorEnd(u, c, seed, code)
	f.reportEnd(u, c, code, made)
	if err != nil && mirrored != nil {
		u.fail(mirrored)
	}
	return cmp.Or(err, mirrored)
}

// mirrorEnd makes the requested mirror, if the crawl ended with something to show, and returns
// what the report needs of it.
func (f *crawlFlags) mirrorEnd(u *ui, c *config, seed weburl.URL, code int) (of reportOf, err error) {
	of.out = filepath.Join(c.Archive, "report.html")
	if f.mirror == "" || code != exitDone && code != exitStopped {
		return of, nil
	}
	ctx, release := u.until()
	defer release()
	made := mirrorFlags{json: f.json}
	err = exportMirror(ctx, u, &made, c.Archive, f.mirror)
	of.broken = made.found
	if _, none := mirrorReport(f.mirror, seed); none == nil {
		of.copied = f.mirror
	}
	return of, err
}

// reportedAtEnd is the most URLs for which the report is written after the crawl, since it
// takes memory per URL.
const reportedAtEnd = 50_000

// reportEnd writes the report on the archive and its mirror, and says what can be done next.
// Errors do not affect the exit code.
func (f *crawlFlags) reportEnd(u *ui, c *config, code int, of reportOf) {
	if !f.ran || code != exitDone && code != exitStopped {
		return
	}
	if !f.noReport && f.found > reportedAtEnd {
		u.say("the report on %s is written by curtsy report %s", legible.Count(f.found, "URL"), quoted(c.Archive))
	} else if !f.noReport {
		ctx, release := u.until()
		defer release()
		if err := writeReport(ctx, u, c.Archive, of); err != nil {
			u.fail(err)
		}
	}
	if code == exitDone {
		if list, err := remarks(c.Archive); err == nil { // otherwise another command will report it
			for _, text := range list {
				u.say("%s", text)
			}
		}
		dir := quoted(c.Archive)
		if f.round != nil {
			u.say("next: curtsy changes %s (what is new), curtsy serve %s (browse it)", dir, dir)
			return
		}
		u.say("next: curtsy serve %s (browse it), curtsy mirror %s OUT, curtsy search %s WORDS, curtsy update %s",
			dir, dir, dir, dir)
	}
}

// mirrorPlace returns an error if the mirror cannot be written, before the crawl.
func mirrorPlace(out string, c *config, seed weburl.URL) error {
	if out == "" {
		return nil
	}
	if _, err := crawlOptions(c, seed, nil); err != nil {
		return err
	}
	if holds(c.Archive, out) {
		return usagef("--mirror with a directory of its own", "--mirror %s: it would be inside the archive %s",
			out, c.Archive)
	}
	if holds(out, c.Archive) {
		return usagef("--mirror with a directory of its own", "--mirror %s: it is the directory of the archive %s",
			out, c.Archive)
	}
	if err := mirror.Place(out); err != nil {
		return mirrorError(err, c.Archive, out, 0)
	}
	return nil
}

// holds reports whether path is dir or below it.
func holds(dir, path string) bool {
	dir, err1 := filepath.Abs(dir)
	path, err2 := filepath.Abs(path)
	rel, err3 := filepath.Rel(dir, path)
	return err1 == nil && err2 == nil && err3 == nil && rel != ".." &&
		!strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
