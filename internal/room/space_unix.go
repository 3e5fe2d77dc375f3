//go:build linux || darwin || freebsd

package room

import "golang.org/x/sys/unix"

// space returns the free and total bytes of the file system of dir.
func space(dir string) (free, size int64, ok bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), int64(st.Blocks) * int64(st.Bsize), true
}

// noInodes reports whether the file system of dir counts inodes and has none left.
func noInodes(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Files > 0 && st.Ffree == 0
}
