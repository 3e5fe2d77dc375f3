package lease

import (
	"time"

	"golang.org/x/sys/unix"
)

// Uptime is the clock of this machine.
func Uptime() Clock {
	fallback := steady()
	return func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
			return fallback() // a kernel older than 2.6.39 says so each time
		}
		return time.Duration(t.Nano())
	}
}
