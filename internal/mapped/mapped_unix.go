//go:build linux || darwin || freebsd

// Package mapped answers: which pages of memory stay mapped? bbolt
// maps its file, and every page once looked at stays part of the process
// until the system needs the room, which makes a large frontier look large.
package mapped

import (
	"os"

	"golang.org/x/sys/unix"
)

// Release gives the pages of a file that is mapped at data back to the system's
// cache, from where they come again when they are looked at. It must not run
// beside what may move the map.
func Release(data uintptr, size int64) {
	if data == 0 || size == 0 {
		return
	}
	// Advice only: where it is refused, nothing is lost.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, data, uintptr(size), unix.MADV_DONTNEED)
}

// Unlock gives the lock on a file free. Closing the file does not, while a map
// of it is left, as where bbolt panics before it could take the map away.
func Unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }
