//go:build !linux

package lease

// Uptime is the clock of this machine: Go's own, which counts the time that a
// machine sleeps on macOS and Windows, and elsewhere does not.
func Uptime() Clock { return steady() }
