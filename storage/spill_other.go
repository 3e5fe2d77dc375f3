//go:build !linux

package storage

// nameless is not available on this system: the file has a name for a moment.
const nameless = 0
