//go:build linux || darwin || freebsd

package mirror

import (
	"os"

	"golang.org/x/sys/unix"
)

// asFile is O_NONBLOCK, which saves os.OpenFile the system calls that find out whether the file
// can be polled.
const asFile = unix.O_NONBLOCK

// lock locks a directory until the file is closed or the process ends; nil if another process
// has the lock or the file system does not support it.
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
