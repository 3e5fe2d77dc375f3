//go:build unix

package storage

import "golang.org/x/sys/unix"

// dontBlock keeps opening a pipe from blocking.
const dontBlock = unix.O_NONBLOCK
