//go:build !(linux || darwin || freebsd)

package mapped

import "os"

// Release does nothing on this system.
func Release(uintptr, int64) {}

// Unlock does nothing on this system.
func Unlock(*os.File) {}
