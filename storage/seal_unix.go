//go:build linux || darwin || freebsd

package storage

import "golang.org/x/sys/unix"

// present returns the seal of crawl.db in its present state.
func (d *directory) present() (s seal, ok bool) {
	f, err := d.open(dbName)
	if err != nil {
		return s, false
	}
	defer f.Close()
	var st unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &st)
	return seal{uint64(st.Dev), st.Ino, st.Size, st.Ctim.Nano()}, err == nil
}
