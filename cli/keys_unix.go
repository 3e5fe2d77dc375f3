//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package cli

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// hasKeys says whether somebody may press keys: in is a terminal.
func hasKeys(in *os.File) bool {
	_, err := unix.IoctlGetTermios(int(in.Fd()), getTermios)
	return err == nil
}

// readKeys gives each key that is pressed, at once and without showing it, until
// end is closed; the terminal is then as it was. Signals stay what they are. A
// job in the background reads nothing, and does not stop for it.
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
		// Not in read: a shell that continues a stopped job gives it a terminal that reads
		// whole lines, and a read that waits for one is not ended by another mode.
		if !readable(fd) {
			continue
		}
		n, err := unix.Read(fd, key[:])
		if n == 1 {
			press(key[0])
		}
		switch err {
		case nil, unix.EINTR, unix.EAGAIN:
		case unix.EIO: // in the background since: it may come back
			time.Sleep(100 * time.Millisecond)
		default:
			return
		}
	}
}

// readable waits a tenth of a second for something to be read.
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
