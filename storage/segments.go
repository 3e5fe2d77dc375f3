package storage

import (
	"io/fs"
	"os"
	"sync"
)

// openedSegments are segments that stay open until the archive is closed, as records are mostly read in
// order.
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

// segment opens a segment. It stays open only if it cannot be written, truncated or replaced meanwhile.
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
	clear(o.all)
}

// OpenSegment opens a segment or linked file, for copying records as they are; their location is the visit's
// Record. Data after the last committed visit may still be truncated. The caller must close it.
func (a *Archive) OpenSegment(name string) (*os.File, error) {
	if !isSegment(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, _, err := a.openSegment(name)
	return f, err
}

// SegmentBytes returns the committed octets of all segments.
func (a *Archive) SegmentBytes() (n int64, err error) {
	known, err := a.segments()
	for _, e := range known {
		n += e.Size
	}
	return n, err
}
