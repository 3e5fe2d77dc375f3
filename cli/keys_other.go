//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package cli

import "os"

// hasKeys is false: keys are not read on this system.
func hasKeys(*os.File) bool { return false }

func readKeys(*os.File, <-chan struct{}, func(byte)) {}
