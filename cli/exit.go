package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"curtsy/crawler"
	"curtsy/frontier"
	"curtsy/internal/legible"
	"curtsy/internal/room"
	"curtsy/storage"
)

// Exit codes, which scripts rely on.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitStopped = 3
	exitRefused = 4
	exitDamaged = 5
)

var exitMeanings = []string{
	exitDone:    "done",
	exitFailed:  "failed; links: a link is broken; a host that cannot be reached",
	exitUsage:   "usage or configuration",
	exitStopped: "stopped or a limit was reached, can be resumed",
	exitRefused: "the site refuses: its robots.txt disallows the seed, or answers 5xx",
	exitDamaged: "the archive is damaged, or in use by another crawl",
}

// exitTable is the output of curtsy help exit-codes.
func exitTable() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for code, meaning := range exitMeanings {
		fmt.Fprintf(&b, "  %d  %s\n", code, meaning)
	}
	return b.String()
}

// exitError is an error with an exit code and a hint.
type exitError struct {
	code int
	err  error
	try  string // a command or an action; "": none
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// isA reports whether err is, or wraps, an error of a type.
func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// exitWith adds an exit code and a hint to err.
func exitWith(code int, err error, try string) error {
	return &exitError{code: code, err: err, try: try}
}

// fileError is the error for a file argument that cannot be read. If it does not exist, it may
// be a URL without scheme.
func fileError(err error) error {
	if file, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		u, bare, failed := typedURL(file.Path)
		isHost := isLoopback(u) || strings.Contains(u.Hostname(), ".")
		if failed == nil && bare && isHost && strings.ContainsAny(file.Path, "/:") {
			_, noScheme := seedURL(file.Path)
			return noScheme
		}
	}
	return exitWith(exitFailed, err, "a readable file, or a URL with its scheme")
}

// archiveError adds an exit code to an error of opening an archive, unless it has one.
func archiveError(err error, dir string) error {
	var damage *storage.DamageError
	var forbidden *fs.PathError
	var link *storage.LinkError
	switch {
	case err == nil || isA[*exitError](err):
		return err
	case errors.As(err, &link):
		return exitWith(exitDamaged, link, backInPlace(dir))
	case noRights(err) && errors.As(err, &forbidden): // it already names the path
		return exitWith(exitFailed, forbidden, rightsHint(err, "as a user who may read and write "+dir))
	case errors.Is(err, syscall.ENOTDIR):
		return usagef("the directory of an archive, or for a WARC, WACZ or HAR: curtsy import NEW-DIR "+quoted(dir),
			"%s is not a directory", dir)
	case errors.Is(err, storage.ErrInUse):
		return exitWith(exitDamaged, err, "curtsy status "+quoted(dir))
	case errors.Is(err, storage.ErrIrregular):
		return exitWith(exitDamaged, err, "a copy of the archive with a regular file in its place")
	case errors.Is(err, storage.ErrSchema):
		return exitWith(exitDamaged, err, "the version of curtsy that wrote it")
	case errors.As(err, &damage) && damage.Index(), errors.Is(err, frontier.ErrCorrupt), errors.Is(err, storage.ErrOld):
		return exitWith(exitDamaged, err, "curtsy verify "+quoted(dir)+
			" --repair, which rebuilds crawl.db from the segments")
	case errors.As(err, &damage) && storage.IsLink(damage.File):
		return exitWith(exitDamaged, err, "curtsy verify "+quoted(dir)+", which names the file that is linked")
	case errors.As(err, &damage):
		return exitWith(exitDamaged, err, "curtsy verify "+quoted(dir)+" --repair")
	case storage.IsDisk(err):
		return exitWith(exitStopped, err, diskHint(err, dir, 0)+", then the same command again")
	case errors.Is(err, crawler.ErrSeed):
		return usagef("curtsy resume "+quoted(dir)+", or another --archive", "%s: %v", dir, err)
	case errors.Is(err, storage.ErrNone) && holdsFiles(dir):
		return usagef("the directory of an archive; curtsy crawl URL --archive NEW-DIR makes one", "%v", err)
	case errors.Is(err, storage.ErrNone):
		return usagef("curtsy crawl URL --archive "+quoted(dir), "%v", err)
	}
	return exitWith(exitFailed, err, "")
}

// stoppedError is archiveError, except that after a signal the error says said and hints at
// try.
func stoppedError(err error, dir, said, try string) error {
	if errors.Is(err, context.Canceled) {
		return exitWith(exitStopped, errors.New(said), try)
	}
	return archiveError(err, dir)
}

// usagef returns a mistake on the command line or in the configuration.
func usagef(try, format string, args ...any) error {
	return exitWith(exitUsage, fmt.Errorf(format, args...), try)
}

// exitCode returns the exit code for err.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		return e.code
	}
	return exitFailed
}

// diskHint returns a hint if the system refused to write to dir or to open files; bytes is the
// approximate amount to write, 0 if unknown.
func diskHint(err error, dir string, bytes int64) string {
	is := func(list ...error) bool {
		return slices.ContainsFunc(list, func(e error) bool { return errors.Is(err, e) })
	}
	switch {
	case is(syscall.EIO):
		return "check the disk"
	case is(syscall.EMFILE, syscall.ENFILE):
		return "allow more open files (ulimit -n)"
	case is(syscall.EDQUOT):
		return "delete files of yours, or have your quota on the disk of " + dir + " raised" + roomFor(bytes, ": ")
	case is(syscall.EFBIG):
		return "a disk that takes larger files, or allow them (ulimit -f)"
	}
	free := room.Free(dir)
	switch {
	case is(syscall.ENOSPC) && room.OutOfFiles(dir):
		return "delete files: the disk of " + dir + " takes no more of them (df -i)"
	case is(syscall.ENOSPC) && bytes > 0 && free > 2*bytes: // what was written of a mirror has been removed
		return "make room, or delete files: the disk of " + dir + " was full, or took no more files (df -h, df -i)"
	}
	hint := "make room" + roomFor(bytes, ": ")
	if free > 0 && bytes > 0 {
		hint += ", " + legible.Bytes(free) + " are free"
	}
	return hint
}

// rightsHint returns a hint if the system denies writing; try is for all cases but a read-only
// disk.
func rightsHint(err error, try string) string {
	if errors.Is(err, syscall.EROFS) {
		return "another directory: the disk is mounted read-only"
	}
	return try
}

func roomFor(bytes int64, before string) string {
	if bytes <= 0 {
		return ""
	}
	return before + "about " + legible.Bytes(bytes) + " are needed"
}

// stillToCome estimates the bytes of the queued URLs from the average of the fetched ones; 0 if
// that fits on the disk, so that space is not the problem.
func stillToCome(r crawler.Result, dir string) int64 {
	n := r.Counts.OfSite()
	bytes := r.State.Bytes / int64(max(n.Fetched, 1)) * int64(n.Queued())
	if bytes < room.Free(dir) {
		return 0
	}
	return bytes
}

// holdsFiles reports whether a directory is not empty.
func holdsFiles(dir string) bool {
	list, err := os.ReadDir(dir)
	return err == nil && len(list) > 0
}
