package storage

import "encoding/json"

// sealName is the file that says that crawl.db is unchanged since this program last closed it. Without it
// all pages are checked when the archive is opened next, as after a kill. It must be removed before the first
// write.
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
	if d.isSealed() {
		return nil
	}
	return d.checkStructure(dbName)
}

func (d *directory) isSealed() bool {
	now, ok := d.present()
	var was seal
	b, err := d.read(sealName, 1<<10)
	return ok && err == nil && json.Unmarshal(b, &was) == nil && was == now
}

// seal writes the seal. It must be called after the last write. If it fails, the next opening takes longer.
func (d *directory) seal() {
	s, ok := d.present()
	if b, err := json.Marshal(s); err == nil && ok {
		_ = d.replace(sealName, b)
	}
}
