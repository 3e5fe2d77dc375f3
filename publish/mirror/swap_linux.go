package mirror

import "golang.org/x/sys/unix"

// Exchange swaps two directories at once.
func Exchange(a, b string) error {
	if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	return exchangeByRename(a, b)
}

// syncDir brings all of a file system to the disk: one call for a tree of any
// size, since a mirror can be made again.
func syncDir(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Syncfs(fd)
}
