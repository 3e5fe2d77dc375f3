//go:build linux || darwin || freebsd

package mirror

import (
	"os"

	"golang.org/x/sys/unix"
)

// asFile spares a file that is opened the question whether it is to be waited for, in five
// calls to the system.
const asFile = unix.O_NONBLOCK

// lock takes a directory until the file is closed, or the process ends in any
// way; nil if another has it or the file system knows no locks.
func lock(dir string) *os.File {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		f.Close()
		return nil
	}
	return f
}
