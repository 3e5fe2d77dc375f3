package export

import (
	"archive/zip"
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

// outFile is an export while it is written, under another name.
type outFile struct {
	*os.File
	name string // that it will have
	err  error  // of the first write that failed
}

// create begins the file. It refuses to replace what no export has made.
func create(out string, o *Options) (*outFile, error) {
	if err := replaceable(out, o); err != nil {
		return nil, err
	}
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

// tmpMark is in the name of a file that is not finished.
const tmpMark = ".curtsy-new-"

// sweep removes what a killed export left. One that is at work writes all the
// time, so that its file is never old.
func sweep(dir, base string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), "."+base+tmpMark) && info.Mode().IsRegular() &&
			time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Write remembers that the disk refused: whoever writes to it need not.
func (f *outFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if err != nil && f.err == nil {
		f.err = &DiskError{err}
		err = f.err
	}
	return n, err
}

// discard removes the file, if it has not been finished.
func (f *outFile) discard() {
	f.Close()
	os.Remove(f.Name())
}

// finish gives the file its name, once its octets are on the disk.
func (f *outFile) finish() (size int64, err error) {
	if f.err != nil {
		return 0, f.err
	}
	if size, err = f.Seek(0, io.SeekEnd); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), f.name)
	}
	if err != nil {
		return 0, &DiskError{err}
	}
	if d, err := os.Open(filepath.Dir(f.name)); err == nil {
		_ = d.Sync() // not every file system can
		d.Close()
	}
	return size, nil
}

// replaceable says whether a file may come to stand at out.
func replaceable(out string, o *Options) error {
	st, err := os.Stat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s: %w: it is not a regular file", out, ErrNotOurs)
	case o.Force || st.Size() == 0 || ours(out, o.Format):
		return nil
	}
	return fmt.Errorf("%s: %w", out, ErrNotOurs)
}

// ours says whether a file looks like an export of that format.
func ours(path string, format Format) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	return format.row().ours(path, head[:n])
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
