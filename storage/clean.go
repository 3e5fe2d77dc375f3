package storage

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
)

// sealName is the file that says that crawl.db is as this program left it when
// it last closed it. Without it all pages are walked at the next opening, as
// after a kill.
const sealName = "crawl.db.closed"

// seal is by what a file is known again: changing it changes its time of
// change, which nobody can set, and a copy is another file. So it holds on this
// machine only, and cannot be sent along with an archive.
type seal struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Size   int64  `json:"size"`
	Change int64  `json:"change"` // ns since 1970
}

// readable says whether the open crawl.db is such that bbolt can read it.
func (d *directory) readable() error {
	st, err := d.stat(dbName)
	if err != nil || d.isSealed(st) {
		return err
	}
	return d.checkStructure(dbName)
}

func (d *directory) isSealed(st fs.FileInfo) bool {
	now, ok := sealOf(st)
	f, err := d.open(sealName)
	if err != nil || !ok {
		return false
	}
	defer f.Close()
	var was seal
	b, err := io.ReadAll(io.LimitReader(f, 1<<10))
	return err == nil && json.Unmarshal(b, &was) == nil && was == now
}

// unseal comes before the first write.
func (d *directory) unseal() error {
	if err := d.remove(sealName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// seal comes after the last. Where it fails, the next opening takes longer.
func (d *directory) seal() {
	st, err := d.stat(dbName)
	if err != nil {
		return
	}
	s, ok := sealOf(st)
	if b, err := json.Marshal(s); err == nil && ok {
		_ = d.replace(sealName, b)
	}
}
