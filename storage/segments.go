package storage

import (
	"io/fs"
	"os"
	"sync"
)

// openedSegments are segments that stay open until the archive is closed: most records are
// read one after another.
type openedSegments struct {
	mu  sync.Mutex
	all map[string]openedSegment
}

type openedSegment struct {
	file           *os.File
	foreign, stays bool
}

// maxOpened is how many segments of an archive stay open.
const maxOpened = 16

// segment opens a segment. One that may still be written to, cut or replaced does not stay.
func (o *openedSegments) segment(a *Archive, name string) (s openedSegment, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s, ok := o.all[name]; ok {
		return s, nil
	}
	if s.file, s.foreign, err = a.openSegment(name); err != nil {
		return s, err
	}
	if s.stays = a.live == nil && a.db.IsReadOnly() && !s.foreign && len(o.all) < maxOpened; s.stays {
		if o.all == nil {
			o.all = map[string]openedSegment{}
		}
		o.all[name] = s
	}
	return s, nil
}

func (o *openedSegments) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.all {
		s.file.Close()
	}
	o.all = nil
}

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
