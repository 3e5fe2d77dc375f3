package lease

import "time"

// Clock says how long this machine has been up, the time that it slept
// included: what Go calls monotonic stands still while a machine sleeps, and
// the time of day may be set.
type Clock func() time.Duration

// steady is Go's own monotonic clock.
func steady() Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
