package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
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
