//go:build !linux

package storage

// nameless is unknown to this system: a file has a name for a moment.
const nameless = 0
