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
	f, _, err := a.openSegment(name)
	return f, err
}

// SegmentBytes is how much the segments hold that is committed, in octets.
func (a *Archive) SegmentBytes() (n int64, err error) {
	known, err := a.segments()
	for _, e := range known {
		n += e.Size
	}
	return n, err
}
