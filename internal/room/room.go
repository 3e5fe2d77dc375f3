// Package room answers: how much may still be written to a disk?
package room

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Floor is what stays free of a disk of so many bytes, where min is asked for:
// not more than a twentieth of it, so that small disks can be used.
func Floor(min, size int64) int64 {
	if size > 0 && min > size/20 {
		return size / 20
	}
	return min
}

// Check says that no more may be written where dir is: less than min bytes are
// free. The error is ENOSPC, as it would be a little later. min 0 checks nothing.
func Check(dir string, min int64) error {
	if min <= 0 {
		return nil
	}
	return Fits(dir, min, 0)
}

// Fits says that n bytes more would leave less than min free.
func Fits(dir string, min, n int64) error {
	free, size, ok := space(dir)
	if floor := Floor(min, size); ok && free-n < floor {
		return fmt.Errorf("%.1f MB free on the disk of %s, and %.1f MB must stay free (storage.min_free): %w",
			float64(free)/1e6, dir, float64(floor)/1e6, syscall.ENOSPC)
	}
	return nil
}

// Free is how many bytes are free where dir, or the nearest directory above it
// that exists, is; 0 where the system does not say.
func Free(dir string) int64 {
	for {
		if free, _, ok := space(dir); ok {
			return free
		}
		above := filepath.Dir(dir)
		if above == dir {
			return 0
		}
		dir = above
	}
}

// OutOfFiles says that the disk of dir has room, and no inode for another file.
func OutOfFiles(dir string) bool {
	for !exists(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	return noInodes(dir)
}

func exists(dir string) bool {
	_, err := os.Lstat(dir)
	return err == nil
}
