//go:build !(linux || darwin || freebsd)

package mirror

import "os"

const asFile = 0

// lock takes nothing here, so that nothing is taken for left.
func lock(string) *os.File { return nil }
