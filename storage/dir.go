package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"curtsy/internal/mapped"
)

// directory is the directory of an archive, which may be moved while it is open. All files are accessed
// through this handle by names of the forms "crawl.db", "warc/…" or "facts/…". The contents may come from an
// untrusted source, so links are not followed and only regular files are opened.
type directory struct {
	path  string // as it was given, for messages
	root  *os.Root
	warc  *os.Root // nil if there is no warc/
	facts *os.Root // nil if there is no facts/

	locked *os.File // holds the lock on the directory; nil: not locked
}

// openDirectory opens an existing directory.
func openDirectory(path string) (d *directory, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	d = &directory{path: path, root: root}
	defer d.closeOn(&err)
	if err := d.openSub(warcDir, &d.warc); err != nil {
		return nil, err
	}
	_ = d.openSub(factsDir, &d.facts) // sidecars can be made again from the segments
	return d, nil
}

// makeDirectory opens the directory of an archive for writing, creating it if necessary.
func makeDirectory(path string) (d *directory, err error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	d, err = openDirectory(path)
	if err != nil || d.warc != nil {
		return d, err
	}
	defer d.closeOn(&err)
	return d, d.makeSub(warcDir, &d.warc)
}

// makeSub opens a subdirectory, creating it if necessary.
func (d *directory) makeSub(name string, to **os.Root) error {
	if err := d.root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.openSub(name, to)
}

// openSub opens a subdirectory if it exists.
func (d *directory) openSub(name string, to **os.Root) error {
	st, err := d.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return fmt.Errorf("%s: %w", d.file(name), ErrIrregular)
	}
	sub, err := d.root.OpenRoot(name)
	if err != nil {
		return err
	}
	if opened, err := sub.Stat("."); err != nil || !os.SameFile(st, opened) {
		sub.Close()
		return fmt.Errorf("%s: %w", d.file(name), ErrIrregular)
	}
	*to = sub
	return nil
}

func (d *directory) close() {
	for _, sub := range []*os.Root{d.warc, d.facts} {
		if sub != nil {
			sub.Close()
		}
	}
	if d.locked != nil {
		mapped.Unlock(d.locked) // a child process being started may have inherited the file
		d.locked.Close()
	}
	d.root.Close()
}

// closeOn closes the directory if *err is set.
func (d *directory) closeOn(err *error) {
	if *err != nil {
		d.close()
	}
}

// in returns the handle of the directory that a name is in, and the name's last element.
func (d *directory) in(name string) (*os.Root, string, error) {
	root, base := d.root, name
	if sub, rest, ok := strings.Cut(name, "/"); ok && sub != "" {
		root, base = d.sub(sub), rest
	}
	if root == nil {
		return nil, "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if base == "" || base == "." || base == ".." || strings.ContainsAny(base, "/\\\x00") || !filepath.IsLocal(base) {
		return nil, "", &DamageError{File: name, What: "not a name of the archive's own"}
	}
	return root, base, nil
}

// stat describes the name itself, not the target of a link. The error is ErrIrregular if it is not a regular
// file.
func (d *directory) stat(name string) (fs.FileInfo, error) {
	root, base, err := d.in(name)
	if err != nil {
		return nil, err
	}
	st, err := root.Lstat(base)
	if err == nil && !st.Mode().IsRegular() {
		return st, fmt.Errorf("%s: %w", d.file(name), ErrIrregular)
	}
	return st, d.about(name, err)
}

// about puts the displayed path into the error of a system call.
func (d *directory) about(name string, err error) error {
	var e *fs.PathError
	if !errors.As(err, &e) {
		return err
	}
	return &fs.PathError{Op: "open", Path: d.file(name), Err: e.Err}
}

// open opens a file for reading.
func (d *directory) open(name string) (*os.File, error) { return d.openFile(name, os.O_RDONLY, 0) }

// read reads a file of at most so many octets.
func (d *directory) read(name string, most int64) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s: longer than %d bytes", d.file(name), most)
	}
	return b, err
}

// openFile opens an existing regular file, or creates one. It opens nothing else that has the name, even if
// it is replaced meanwhile.
func (d *directory) openFile(name string, flag int, mode os.FileMode) (*os.File, error) {
	st, err := d.stat(name)
	if flag&os.O_CREATE != 0 && errors.Is(err, fs.ErrNotExist) {
		return d.create(name, flag, mode)
	}
	if err != nil {
		return nil, err
	}
	root, base, _ := d.in(name) // stat has checked the name
	// A pipe that has taken the place of the file must not block.
	f, err := root.OpenFile(base, flag&^os.O_CREATE|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, d.about(name, err)
	}
	opened, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, d.about(name, err)
	}
	if !os.SameFile(st, opened) {
		f.Close()
		return nil, fmt.Errorf("%s: %w", d.file(name), ErrIrregular)
	}
	return f, nil
}

// create creates a file that must not exist.
func (d *directory) create(name string, flag int, mode os.FileMode) (*os.File, error) {
	root, base, err := d.in(name)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(base, flag|os.O_CREATE|os.O_EXCL, mode)
	return f, d.about(name, err)
}

// remove removes a regular file, if there is one.
func (d *directory) remove(name string) error {
	_, err := d.stat(name)
	if err == nil {
		root, base, _ := d.in(name)
		err = root.Remove(base)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// rename renames a file within its directory.
func (d *directory) rename(name, to string) error {
	root, base, err := d.in(name)
	if err != nil {
		return err
	}
	_, other, err := d.in(to)
	if err != nil {
		return err
	}
	return root.Rename(base, other)
}

// link gives a file another name, which must not exist.
func (d *directory) link(name, to string) error {
	if _, err := d.stat(name); err != nil {
		return err
	}
	return d.root.Link(name, to)
}

// sync syncs the directory that a file is in, so that its name is durable.
func (d *directory) sync(name string) error {
	root, _, err := d.in(name)
	if err != nil {
		return err
	}
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// replace writes a file, atomically replacing an existing one.
func (d *directory) replace(name string, b []byte) error {
	fresh := name + ".new"
	if err := d.remove(fresh); err != nil {
		return err
	}
	if st, err := d.stat(name); err != nil && st != nil {
		return err
	}
	f, err := d.create(fresh, os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return d.rename(fresh, name)
}

// sub returns the handle of a subdirectory; nil if there is none.
func (d *directory) sub(name string) *os.Root {
	switch name {
	case "":
		return d.root
	case warcDir:
		return d.warc
	case factsDir:
		return d.facts
	}
	return nil
}

// list lists the directory itself or a subdirectory.
func (d *directory) list(sub string) ([]fs.DirEntry, error) {
	root := d.sub(sub)
	if root == nil {
		return nil, nil
	}
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// setAside renames a file so that it is not read any more: it appends ".what", or ".what-1" and so on if
// that exists.
func (d *directory) setAside(name, what string) (to string, err error) {
	root, base, err := d.in(name)
	if err != nil {
		return "", err
	}
	to = base + "." + what
	for n := 1; ; n++ {
		if _, err := root.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return to, err
		}
		to = fmt.Sprintf("%s.%s-%d", base, what, n)
	}
	if err := root.Rename(base, to); err != nil {
		return to, err
	}
	return to, d.sync(name)
}
