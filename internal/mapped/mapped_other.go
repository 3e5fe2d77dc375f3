//go:build !(linux || darwin || freebsd)

package mapped

import "os"

// Release does nothing here.
func Release(uintptr, int64) {}

// Unlock does nothing here.
func Unlock(*os.File) {}
