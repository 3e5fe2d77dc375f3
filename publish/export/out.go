package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// outFile is an export being written under a temporary name.
type outFile struct {
	*os.File
	name string // its final name
	err  error  // the first failed write
}

// begin creates a temporary file that place will rename to out.
func begin(out string) (*outFile, error) {
	dir, base := filepath.Split(out)
	if dir == "" {
		dir = "."
	}
	sweep(dir, base)
	f, err := os.CreateTemp(dir, "."+base+tmpMark+"*")
	if err != nil {
		return nil, &DiskError{err}
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, &DiskError{err}
	}
	return &outFile{File: f, name: out}, nil
}

// target resolves symbolic links, so that a link to an export stays a link.
func target(out string) string {
	if real, err := filepath.EvalSymlinks(out); err == nil {
		return real
	}
	return out
}

// tmpMark is part of the name of every unfinished file.
const tmpMark = ".curtsy-new-"

// sweep removes what killed exports left. A running export writes all the time, so its files
// are never old.
func sweep(dir, base string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if left := filepath.Join(dir, e.Name()); strings.HasPrefix(e.Name(), "."+base+tmpMark) && isOld(left) {
			_ = os.RemoveAll(left)
		}
	}
}

// isOld reports whether a file, or everything in a directory, is unchanged for an hour.
func isOld(path string) bool {
	err := filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) < time.Hour {
			err = fs.ErrExist
		}
		return err
	})
	return err == nil
}

// Write remembers the first error of the disk, so that callers may ignore it until seal.
func (f *outFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if err != nil && f.err == nil {
		f.err = &DiskError{err}
		err = f.err
	}
	return n, err
}

// touch updates the modification times, so that sweep sees that the export is running.
func (f *outFile) touch(dir string) {
	now := time.Now()
	_ = os.Chtimes(f.Name(), now, now)
	_ = os.Chtimes(dir, now, now)
}

// discard closes the file and removes it if it was not placed.
func (f *outFile) discard() {
	f.Close()
	os.Remove(f.Name())
}

// seal syncs and closes the file.
func (f *outFile) seal() (size int64, err error) {
	if f.err != nil {
		return 0, f.err
	}
	if size, err = f.Seek(0, io.SeekEnd); err == nil {
		err = f.Sync()
	}
	return size, asDisk(errors.Join(err, f.Close()))
}

// place renames the sealed file to its final name.
func (f *outFile) place() error {
	if err := os.Rename(f.Name(), f.name); err != nil {
		return &DiskError{err}
	}
	if d, err := os.Open(filepath.Dir(f.name)); err == nil {
		_ = d.Sync() // not every file system supports this
		d.Close()
	}
	return nil
}

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

// replaceable returns an error if out exists and may not be replaced; ours recognises an export
// by its path and its beginning.
func replaceable(out string, force bool, ours func(path string, head []byte) bool) error {
	st, err := os.Lstat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return &fs.PathError{Op: "write", Path: out, Err: ErrNoFile}
	case force || st.Size() == 0 || ours(out, headOf(out)):
		return nil
	}
	return fmt.Errorf("%s: %w", out, ErrNotOurs)
}

// ErrNoFile means that the output is a directory, a device or a pipe.
var ErrNoFile = errors.New("not a regular file")

// headOf returns the first octets of a file; nil if it cannot be read.
func headOf(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}

func oursWARC(_ string, head []byte) bool {
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return false
	}
	first := make([]byte, 4096)
	n, _ := io.ReadFull(z, first)
	first = first[:n]
	return bytes.HasPrefix(first, []byte("WARC/1.1\r\nWARC-Type: warcinfo\r\n")) &&
		bytes.Contains(first, []byte("\r\nsoftware: curtsy"))
}

func oursCDXJ(_ string, head []byte) bool { return bytes.Contains(head, []byte(` {"url":"`)) }
func oursText(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("---\nurl: ")) }
func oursCSV(_ string, head []byte) bool  { return bytes.HasPrefix(head, []byte("url,state,reason,")) }

func oursJSONL(_ string, head []byte) bool {
	return bytes.HasPrefix(head, []byte(`{"url":"`)) && bytes.Contains(head, []byte(`","state":"`))
}

func oursWACZ(path string, _ []byte) bool {
	z, err := zip.OpenReader(path)
	if err != nil {
		return false
	}
	defer z.Close()
	f, err := z.Open("datapackage.json")
	if err != nil {
		return false
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return bytes.Contains(b, []byte(`"software": "curtsy`))
}
