//go:build !unix

package fetch

// readable cannot look without waiting here; a connection that has died is
// noticed by the first use of it, and that request is sent again.
func readable(uintptr) bool { return false }
