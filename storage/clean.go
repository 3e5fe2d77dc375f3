package storage

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
)

// sealName is the file that says that crawl.db is unchanged since this program last closed it. Without it
// all pages are checked when the archive is opened next, as after a kill.
const sealName = "crawl.db.closed"

// seal identifies a file in its present state: any change changes its ctime, which cannot be set, and a copy
// has another inode. So it is valid on this machine only and cannot be forged in an archive from
// elsewhere.
type seal struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Size   int64  `json:"size"`
	Change int64  `json:"change"` // ns since 1970
}

// readable checks that bbolt can read crawl.db, unless it is sealed.
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

// unseal removes the seal. It must be called before the first write.
func (d *directory) unseal() error {
	if err := d.remove(sealName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// seal writes the seal. It must be called after the last write. If it fails, the next opening takes longer.
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
