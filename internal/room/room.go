// Package room checks the free space of disks.
package room

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Floor returns how many bytes stay free on a disk of size bytes: min, but at most a twentieth
// of the disk, so that small disks are usable.
func Floor(min, size int64) int64 {
	if size > 0 && min > size/20 {
		return size / 20
	}
	return min
}

// Check returns an error if less than min bytes are free on the disk of dir. The error wraps
// ENOSPC, as if the disk were full. With min 0 it checks nothing.
func Check(dir string, min int64) error {
	if min <= 0 {
		return nil
	}
	return Fits(dir, min, 0)
}

// Fits returns an error if writing n bytes would leave less than min free.
func Fits(dir string, min, n int64) error {
	free, size, ok := space(dir)
	if floor := Floor(min, size); ok && free-n < floor {
		return fmt.Errorf("%.1f MB free on the disk of %s, and %.1f MB must stay free (storage.min_free): %w",
			float64(free)/1e6, dir, float64(floor)/1e6, syscall.ENOSPC)
	}
	return nil
}

// Free returns the bytes free on the disk of dir, or of its nearest existing parent; 0 if the
// system does not tell.
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

// OutOfFiles reports whether the disk of dir has no inode left for another file.
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
