package storage

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"

	"curtsy/internal/room"
)

// spill is a temporary file for data that is too large for memory. It has no name, is in the archive's
// directory, and disappears when it is closed or the process ends in any way.
type spill struct {
	*os.File
	dir   *directory
	min   int64
	size  int64
	named string // its name on systems where an open file cannot be removed
}

// Spill creates a temporary file. The caller must close it. It is safe for concurrent use.
func (a *Archive) Spill() (interface {
	io.Writer
	io.ReaderAt
	io.Closer
}, error) {
	s := &spill{dir: a.dir, min: a.opts.MinFree}
	f, err := a.dir.root.OpenFile(".", os.O_RDWR|nameless, 0o600)
	if err != nil {
		f, err = s.create()
	}
	if err != nil {
		return nil, s.about(err)
	}
	s.File = f
	return s, nil
}

// create creates a file and removes its name at once, if the system supports that.
func (s *spill) create() (*os.File, error) {
	name := "spill-" + rand.Text()
	f, err := s.dir.create(name, os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if s.dir.remove(name) != nil {
		s.named = name
	}
	return f, nil
}

// Write fails if less than MinFree would be left free, or not enough for a copy of the file in a segment: a
// single body that does not fit must not end the crawl.
func (s *spill) Write(b []byte) (int, error) {
	if err := room.Fits(s.dir.path, s.min, s.size+2*int64(len(b))); err != nil {
		return 0, s.about(err)
	}
	n, err := s.File.Write(b)
	s.size += int64(n)
	return n, s.about(err)
}

// Close closes the file, which then disappears.
func (s *spill) Close() error {
	err := s.File.Close()
	if s.named != "" {
		err = errors.Join(err, s.dir.remove(s.named))
	}
	return err
}

// about puts the directory into an error, as the file has no name.
func (s *spill) about(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		err = e.Err
	}
	if err == nil {
		return nil
	}
	dir, abs := filepath.Abs(s.dir.path)
	if abs != nil {
		dir = s.dir.path
	}
	return &os.PathError{Op: "write", Path: dir, Err: err}
}
