package lease

import (
	"time"

	"golang.org/x/sys/unix"
)

// Uptime returns the clock of this machine, CLOCK_BOOTTIME.
func Uptime() Clock {
	fallback := steady()
	return func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
			return fallback() // kernels before 2.6.39 lack CLOCK_BOOTTIME
		}
		return time.Duration(t.Nano())
	}
}
