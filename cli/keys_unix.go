//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package cli

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// hasKeys reports whether in is a terminal.
func hasKeys(in *os.File) bool {
	_, err := unix.IoctlGetTermios(int(in.Fd()), getTermios)
	return err == nil
}

// readKeys calls press with each key at once, without echo, until end is closed; then it
// restores the terminal. Signals work as usual. A background job reads nothing and is not
// stopped.
func readKeys(in *os.File, end <-chan struct{}, press func(byte)) {
	fd := int(in.Fd())
	was, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return
	}
	signal.Ignore(unix.SIGTTIN, unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTIN, unix.SIGTTOU)
	raw := *was
	raw.Lflag &^= unix.ICANON | unix.ECHO
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 0
	defer func() {
		if inForeground(fd) {
			_ = unix.IoctlSetTermios(fd, setTermios, was)
		}
	}()
	var key [1]byte
	for {
		select {
		case <-end:
			return
		default:
		}
		if !inForeground(fd) || unix.IoctlSetTermios(fd, setTermios, &raw) != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		// Poll instead of blocking in read: a shell that continues a stopped job may reset the
		// terminal to line mode, and a blocked read does not notice when the mode is changed
		// back.
		if !readable(fd) {
			continue
		}
		n, err := unix.Read(fd, key[:])
		if n == 1 {
			press(key[0])
		}
		switch err {
		case nil, unix.EINTR, unix.EAGAIN:
		case unix.EIO: // now in the background; it may return
			time.Sleep(100 * time.Millisecond)
		default:
			return
		}
	}
}

// readable waits up to a tenth of a second for input.
func readable(fd int) bool {
	var set unix.FdSet
	set.Set(fd)
	wait := unix.NsecToTimeval(int64(100 * time.Millisecond))
	n, err := unix.Select(fd+1, &set, nil, nil, &wait)
	return err != nil && err != unix.EINTR || n > 0
}

func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
