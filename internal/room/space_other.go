//go:build !linux && !darwin && !freebsd

package room

// space is unknown on this system.
func space(string) (free, size int64, ok bool) { return 0, 0, false }

func noInodes(string) bool { return false }
