package mirror

import "golang.org/x/sys/unix"

// Exchange swaps two directories, atomically if the file system supports it.
func Exchange(a, b string) error {
	if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	return exchangeByRename(a, b)
}

// syncDir syncs the whole file system, in one call for a tree of any size.
func syncDir(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Syncfs(fd)
}
