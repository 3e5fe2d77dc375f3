package lease

import "time"

// Clock returns the time since boot, including sleep. Go's monotonic clock stops while some
// systems sleep, and the time of day may be set.
type Clock func() time.Duration

// steady returns Go's monotonic clock.
func steady() Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
