//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package cli

import "os"

// hasKeys returns false: keys are not supported on this system.
func hasKeys(*os.File) bool { return false }

func readKeys(*os.File, <-chan struct{}, func(byte)) {}
