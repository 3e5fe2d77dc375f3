//go:build unix

package fetch

import "syscall"

// readable reports whether a read from the socket would return at once: data has arrived, the
// peer has closed, or the connection is broken.
func readable(fd uintptr) bool {
	var b [1]byte
	_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return err != syscall.EAGAIN && err != syscall.EWOULDBLOCK && err != syscall.EINTR
}
