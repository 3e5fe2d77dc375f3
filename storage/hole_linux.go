package storage

import (
	"os"

	"golang.org/x/sys/unix"
)

// dataFrom is where the next octets that were written lie, at or behind an
// offset: what nobody wrote takes no room, may be as long as any file can be,
// and would take hours to read. It is the file's size if there are none.
func dataFrom(f *os.File, at, size int64) int64 {
	next, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
	switch {
	case err == unix.ENXIO:
		return size
	case err != nil || next < at:
		return at // this file system does not tell
	}
	return next
}
