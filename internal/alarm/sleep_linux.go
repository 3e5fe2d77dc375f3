package alarm

import (
	"syscall"
	"time"
)

// sleep lets the kernel wake this thread, by its high-resolution timers.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // one that is interrupted is begun again by Until
}
