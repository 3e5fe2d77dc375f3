//go:build linux || darwin

package cli

import (
	"fmt"
	"syscall"

	"curtsy/internal/legible"
)

// leastSpace is the address space that suffices for every command. The Go runtime reserves most
// of it and uses little. If it cannot, it ends the process with a trace; below some 1.4 GB
// before our code runs.
const leastSpace = 2 << 30

// enoughSpace returns an error if ulimit -v leaves less.
func enoughSpace() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur >= leastSpace {
		return nil
	}
	return exitWith(exitFailed, fmt.Errorf("the address space is limited to %s (ulimit -v), but %s is needed, "+
		"most of it reserved and never used", legible.Bytes(int64(limit.Cur)), legible.Bytes(leastSpace)),
		"ulimit -v unlimited; to limit memory itself use a control group: systemd-run -p MemoryMax=300M")
}
