package export

import (
	"bufio"
	"io"
	"os"
)

// spool is a temporary file that is written and then read.
type spool struct {
	f *os.File
	w *bufio.Writer
}

func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, ".curtsy-pages-*")
	if err != nil {
		return nil, &DiskError{err}
	}
	_ = os.Remove(f.Name()) // on Unix, the file vanishes even if the process is killed
	return &spool{f: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

func (s *spool) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	return n, asDisk(err)
}

// rewind flushes what was written and goes to the beginning of s.f for reading.
func (s *spool) rewind() (size int64, err error) {
	if err = s.w.Flush(); err == nil {
		if size, err = s.f.Seek(0, io.SeekCurrent); err == nil {
			_, err = s.f.Seek(0, io.SeekStart)
		}
	}
	return size, asDisk(err)
}

func (s *spool) close() {
	s.f.Close()
	_ = os.Remove(s.f.Name())
}
