//go:build !linux

package pdf

// limit has no bounds of the system's here; those of Go's runtime and the time by
// the clock are left.
func limit(uint64) error { return nil }
