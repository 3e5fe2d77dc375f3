package pdf

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// limit limits this process: its address space, beyond what it already uses, and its processor
// time in seconds.
func limit(cpu uint64) error {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, err := strconv.ParseUint(string(bytes.Fields(b)[0]), 10, 64)
	if err != nil {
		return err
	}
	for _, l := range []struct {
		name  string
		which int
		most  uint64
	}{
		{"address space", unix.RLIMIT_AS, pages*uint64(os.Getpagesize()) + maxHeap},
		{"processor time", unix.RLIMIT_CPU, cpu},
		{"files written", unix.RLIMIT_FSIZE, 0},
	} {
		if err := unix.Setrlimit(l.which, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}
