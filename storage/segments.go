package storage

import (
	"io/fs"
	"os"
)

// OpenSegment opens a segment, for outlets that copy its records as they are:
// those of a visit lie where its Record says. What lies behind the last visit
// that is named may still be cut off. The caller closes it.
func (a *Archive) OpenSegment(name string) (*os.File, error) {
	if !isSegment(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return a.dir.open(segmentFile(name))
}
