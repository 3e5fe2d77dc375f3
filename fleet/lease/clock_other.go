//go:build !linux

package lease

// Uptime returns Go's monotonic clock, which includes sleep on macOS and Windows, but not on
// other systems.
func Uptime() Clock { return steady() }
