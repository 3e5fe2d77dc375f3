package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"curtsy/crawler"
	"curtsy/internal/room"
)

// Exit codes: the contract with scripts.
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

// exitTable is what curtsy help exit-codes prints.
func exitTable() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for code, meaning := range exitMeanings {
		fmt.Fprintf(&b, "  %d  %s\n", code, meaning)
	}
	return b.String()
}

// exitError is an error that knows its exit code and what to try next.
type exitError struct {
	code int
	err  error
	try  string // a command or an action; "" if there is none
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// exitWith gives err an exit code and a hint.
func exitWith(code int, err error, try string) error {
	return &exitError{code: code, err: err, try: try}
}

// fileError is that of a file that was named and cannot be read; one that is not
// there may be a URL whose scheme was left out.
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

// usagef is a mistake on the command line or in the configuration.
func usagef(try, format string, args ...any) error {
	return exitWith(exitUsage, fmt.Errorf(format, args...), try)
}

// exitCode is the code that err ends the process with.
func exitCode(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		return e.code
	}
	return exitFailed
}

// diskHint is what may help where the system refused to write to dir, or to open;
// bytes are about how many there were to write, 0 where nobody knows.
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
	case is(syscall.ENOSPC) && bytes > 0 && free > 2*bytes: // what was written of a mirror is gone by now
		return "make room, or delete files: the disk of " + dir + " was full, or took no more files (df -h, df -i)"
	}
	hint := "make room" + roomFor(bytes, ": ")
	if free > 0 && bytes > 0 {
		hint += ", " + byteCount(free) + " are free"
	}
	return hint
}

// rightsHint is what may help where the system forbids to write; try is for all but
// a disk that nobody may write to.
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
	return before + "about " + byteCount(bytes) + " are needed"
}

// stillToCome is about how many bytes the URLs that are queued take, as large as
// those that came; 0 where that is no measure, for so much is free.
func stillToCome(r crawler.Result, dir string) int64 {
	n := r.Counts.OfSite()
	bytes := r.State.Bytes / int64(max(n.Fetched, 1)) * int64(n.Queued())
	if bytes < room.Free(dir) {
		return 0
	}
	return bytes
}

// sizeOf is what the files of a directory take.
func sizeOf(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if st, err := d.Info(); err == nil {
				sum += st.Size()
			}
		}
		return nil
	})
	return sum
}
