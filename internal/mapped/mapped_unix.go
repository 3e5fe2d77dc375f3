//go:build linux || darwin || freebsd

// Package mapped releases the memory and the lock of mapped files. bbolt maps its file, and
// every page once read counts as memory of the process until the system reclaims it, which
// makes a large frontier look large.
package mapped

import (
	"os"

	"golang.org/x/sys/unix"
)

// Release drops the pages of a file mapped at data from the process. They stay in the page
// cache and are mapped again on access. The mapping must not move meanwhile.
func Release(data uintptr, size int64) {
	if data == 0 || size == 0 {
		return
	}
	// Only a hint: failure does no harm.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, data, uintptr(size), unix.MADV_DONTNEED)
}

// Unlock releases the lock on a file. Closing the file does not while a mapping of it exists,
// as after a panic in bbolt before it unmapped.
func Unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }
