//go:build !(linux || darwin || freebsd)

package mapped

import (
	"os"

	"go.etcd.io/bbolt"
)

// Release does nothing here.
func Release(*bbolt.DB) {}

// Unlock does nothing here.
func Unlock(*os.File) {}
