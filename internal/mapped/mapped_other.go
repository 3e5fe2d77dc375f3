//go:build !(linux || darwin || freebsd)

package mapped

import "go.etcd.io/bbolt"

// Release does nothing here.
func Release(*bbolt.DB) {}
