//go:build linux || darwin || freebsd

package storage

import (
	"io/fs"
	"syscall"
)

func sealOf(st fs.FileInfo) (s seal, ok bool) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return s, false
	}
	return seal{uint64(sys.Dev), uint64(sys.Ino), st.Size(), changeTime(sys)}, true
}
