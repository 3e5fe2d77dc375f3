//go:build unix

package storage

import "golang.org/x/sys/unix"

// dontBlock keeps the opening of a pipe from waiting for its other end.
const dontBlock = unix.O_NONBLOCK
