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
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 1 // a read returns after a tenth of a second
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
		n, err := unix.Read(fd, key[:])
		if n == 1 {
			press(key[0])
		} else if err != nil && err != unix.EINTR && err != unix.EAGAIN {
			return
		}
	}
}

func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// columns is how wide a terminal is; 0 for what is none.
func columns(fd uintptr) int {
	size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
