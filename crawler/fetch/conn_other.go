//go:build !unix

package fetch

// readable cannot peek without blocking on this system. A dead connection is noticed when it is
// next used, and the request is then repeated.
func readable(uintptr) bool { return false }
