package storage

import "golang.org/x/sys/unix"

// nameless opens a file without a name.
const nameless = unix.O_TMPFILE
