//go:build linux || darwin || freebsd

package catalog

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	shared = unix.LOCK_SH // waits for it
	alone  = unix.LOCK_EX | unix.LOCK_NB
)

// flock takes a lock, or changes the one that is held; it ends with the file,
// or with the process.
func flock(f *os.File, how int) error { return unix.Flock(int(f.Fd()), how) }
