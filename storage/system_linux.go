package storage

import (
	"os"

	"golang.org/x/sys/unix"
)

// dataFrom returns the offset of the next data at or after an offset; size if there are none. It skips holes,
// which take no disk space but may be huge and would take hours to read.
func dataFrom(f *os.File, at, size int64) int64 {
	next, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
	switch {
	case err == unix.ENXIO:
		return size
	case err != nil || next < at:
		return at // the file system does not support this
	}
	return next
}

// nameless opens a file without a name.
const nameless = unix.O_TMPFILE
