//go:build !linux

package mapped

// Huge does nothing here.
func Huge([]uint64) {}
