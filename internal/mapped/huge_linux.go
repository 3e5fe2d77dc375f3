package mapped

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on most machines.
const hugePage = 2 << 20

// Huge asks for huge pages under a table that is looked at in no order: with
// small ones the processor waits for the page's address first, then for what
// is on it.
func Huge(table []uint64) {
	if len(table) == 0 {
		return
	}
	from := uintptr(unsafe.Pointer(&table[0]))
	to := from + uintptr(len(table))*8
	from = (from + hugePage - 1) &^ (hugePage - 1)
	to &^= hugePage - 1
	if from >= to {
		return
	}
	// Advice only: where it is refused, nothing is lost.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_HUGEPAGE)
}
