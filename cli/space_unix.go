//go:build linux || darwin

package cli

import (
	"fmt"
	"syscall"

	"curtsy/internal/legible"
)

// leastSpace is the address space that every command does with. The runtime
// reserves most of it and uses little; where it cannot, it ends the process with
// a trace, which no code of ours sees; below some 1.4 GB before any of it runs.
const leastSpace = 2 << 30

// enoughSpace says what is wrong where ulimit -v leaves less.
func enoughSpace() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur >= leastSpace {
		return nil
	}
	return exitWith(exitFailed, fmt.Errorf("the address space is limited to %s (ulimit -v), but %s is needed, "+
		"most of it reserved and never used", legible.Bytes(int64(limit.Cur)), legible.Bytes(leastSpace)),
		"ulimit -v unlimited; to limit memory itself use a control group: systemd-run -p MemoryMax=300M")
}
