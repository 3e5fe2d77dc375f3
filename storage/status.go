package storage

// statusName is the file in which a running crawl publishes its status.
const statusName = "status.json"

// maxStatus bounds what is read of it, in octets.
const maxStatus = 16 << 20

// PutStatus replaces the archive's status.json. It is derived data.
func (a *Archive) PutStatus(b []byte) error { return a.dir.replace(statusName, b) }

// Status reads the status.json of the archive in dir.
func Status(dir string) ([]byte, error) {
	d, err := openDirectory(dir)
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.read(statusName, maxStatus)
}
