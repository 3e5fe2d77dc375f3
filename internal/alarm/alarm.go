// Package alarm answers: how does one wake at a time, and not some time
// after it? A timer of the runtime is late by a part of a millisecond, which
// is a lot of a pause of ten. So set the timer to Lead before the time, and
// call Until when it fires.
package alarm

import "time"

const (
	// Lead is how much earlier than the time a runtime timer should fire to
	// be sure to fire before it.
	Lead = 1500 * time.Microsecond
	// spin is how long before the time the clock is watched instead of
	// slept on: the kernel's timer slack, and the way back to the processor.
	spin = 120 * time.Microsecond
)

// Until returns at the given time, not before it and hardly after it. It is
// for the last Lead of a wait: it holds its thread and nothing wakes it.
func Until(at time.Time) {
	for {
		left := time.Until(at)
		if left <= 0 {
			return
		}
		if left > spin {
			sleep(left - spin)
		}
	}
}
