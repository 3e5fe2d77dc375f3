package storage

import "golang.org/x/sys/unix"

// nameless opens a file that never has a name.
const nameless = unix.O_TMPFILE
