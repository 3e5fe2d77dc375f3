package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"curtsy/internal/room"
	"curtsy/storage"
)

// tree is the new mirror while it is made: a directory beside OUT, which
// takes OUT's place at the end.
type tree struct {
	out  string   // where it will be
	tmp  string   // where it is
	lock *os.File // of tmp: it is being made
	root *os.Root // of tmp
	old  *os.Root // of the mirror that is there already; nil if none
	mu   sync.Mutex
	made map[string]bool     // directories
	dirs map[string]*os.Root // some of them, and in nobody's use

	most    int64 // bytes that the mirror may have; 0 is any number
	minFree int64 // bytes of the disk that stay free
	size    atomic.Int64
}

// tmpMark is in the name of the directory in which a mirror is made.
const tmpMark = ".curtsy-new-"

// newTree begins a mirror. It refuses an OUT that is not empty and not ours.
func newTree(out string) (*tree, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real // a link to a mirror stays one
	}
	t := &tree{out: out, made: map[string]bool{".": true}, dirs: map[string]*os.Root{}}
	if t.old, err = openOld(out); err != nil {
		return nil, err
	}
	parent, name := filepath.Split(out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, t.fail(err)
	}
	sweep(parent, name)
	if t.tmp, err = os.MkdirTemp(parent, "."+name+tmpMark); err != nil {
		return nil, t.fail(err)
	}
	t.lock = lock(t.tmp)
	if err = os.Chmod(t.tmp, 0o755); err == nil {
		t.root, err = os.OpenRoot(t.tmp)
	}
	if err != nil {
		return nil, t.fail(err)
	}
	return t, nil
}

func (t *tree) fail(err error) error {
	t.discard()
	return &DiskError{err}
}

// openOld opens the mirror in out; nil if there is none. A directory with
// anything in it that no map of ours names is not ours.
func openOld(out string) (*os.Root, error) {
	st, err := os.Lstat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !st.IsDir():
		return nil, fmt.Errorf("%s: %w: not a directory", out, ErrNotOurs)
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, err
	}
	if err := foreign(root); err != nil {
		root.Close()
		return nil, fmt.Errorf("%s: %w", out, err)
	}
	return root, nil
}

// foreign says what in a directory is not ours.
func foreign(root *os.Root) error {
	ours := map[string]bool{}
	m, err := readMap(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case storage.IsDisk(err):
		return err // it may be ours
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrNotOurs, MapFile, err)
	default:
		ours = m.files()
	}
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || ours[name] {
			return err
		}
		return fmt.Errorf("%w: it holds %s", ErrNotOurs, name)
	})
}

// sweep removes what an export that was killed has left, after an hour: before
// that it may not have its lock yet, and after it, only who has no lock is dead.
func sweep(parent, name string) {
	left, _ := filepath.Glob(filepath.Join(globEscape(parent), globEscape("."+name+tmpMark)+"*"))
	for _, dir := range left {
		st, err := os.Lstat(dir)
		if err != nil || !st.IsDir() || time.Since(st.ModTime()) < time.Hour {
			continue
		}
		if l := lock(dir); l != nil {
			os.RemoveAll(dir)
			l.Close()
		}
	}
}

func globEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

// discard removes what was made. The old mirror is untouched.
func (t *tree) discard() {
	t.closeDirs()
	for _, r := range []*os.Root{t.root, t.old} {
		if r != nil {
			r.Close()
		}
	}
	if t.tmp != "" {
		os.RemoveAll(t.tmp)
	}
	t.lock.Close() // nil has nothing to close
	t.root, t.old, t.lock, t.tmp = nil, nil, nil, ""
}

// put writes a file. Where the old mirror has the very same, it is that file.
func (t *tree) put(name string, at time.Time, body []byte) error {
	if err := t.mkdir(path.Dir(name)); err != nil {
		return err
	}
	if t.keep(name, at, body) {
		return t.grow(int64(len(body)))
	}
	return t.stream(name, at, bytes.NewReader(body))
}

// stream writes a file from a reader. An error of the reader is not one of
// the disk, and leaves no file.
func (t *tree) stream(name string, at time.Time, r io.Reader) error {
	in := path.Dir(name)
	dir, err := t.openDir(in)
	if err != nil {
		return err
	}
	defer t.giveDir(in, dir)
	name = path.Base(name)
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|asFile, 0o644)
	if err != nil {
		return &DiskError{err}
	}
	d := &diskWriter{w: f, grow: t.grow}
	_, err = io.Copy(d, r)
	if e := f.Close(); d.err == nil && e != nil {
		d.err = e
	}
	var disk *DiskError
	if errors.As(d.err, &disk) {
		return disk
	}
	if d.err != nil {
		return &DiskError{d.err}
	}
	if err != nil {
		if e := dir.Remove(name); e != nil {
			return &DiskError{e}
		}
		return err
	}
	if !at.IsZero() {
		if e := dir.Chtimes(name, at, at); e != nil {
			return &DiskError{e}
		}
	}
	return nil
}

// openDirs is how many directories stay open. Files come in the order of their URLs.
const openDirs = 256

// openDir opens a directory, for the caller alone until it is given back: from the
// root each file would take all directories above it anew.
func (t *tree) openDir(name string) (*os.Root, error) {
	if err := t.mkdir(name); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	dir, err := t.dirs[name], error(nil)
	if delete(t.dirs, name); dir == nil {
		if dir, err = t.root.OpenRoot(name); err != nil {
			return nil, &DiskError{err}
		}
	}
	return dir, nil
}

func (t *tree) giveDir(name string, dir *os.Root) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if had := t.dirs[name]; had != nil {
		had.Close()
	}
	t.dirs[name] = dir
	for other, root := range t.dirs {
		if len(t.dirs) > openDirs && other != name {
			delete(t.dirs, other)
			root.Close()
		}
	}
}

func (t *tree) closeDirs() {
	for name, dir := range t.dirs {
		delete(t.dirs, name)
		dir.Close()
	}
}

// diskWriter tells the disk's errors from those of the other side.
type diskWriter struct {
	w    io.Writer
	grow func(int64) error
	err  error
}

func (d *diskWriter) Write(p []byte) (int, error) {
	if d.err = d.grow(int64(len(p))); d.err != nil {
		return 0, d.err
	}
	n, err := d.w.Write(p)
	if err != nil {
		d.err = err
	}
	return n, err
}

// looked is after how many bytes the disk is asked again what is free.
const looked = 256 << 10

// ErrTooMuch says that a mirror would be larger than it may.
var ErrTooMuch = errors.New("the mirror would exceed its size limit")

// grow makes room for n bytes more, or says why there is none.
func (t *tree) grow(n int64) error {
	size := t.size.Add(n)
	if t.most > 0 && size > t.most {
		return &DiskError{fmt.Errorf("%w: over %d bytes", ErrTooMuch, t.most)}
	}
	if size/looked == (size-n)/looked && size > n {
		return nil
	}
	if err := room.Check(t.tmp, t.minFree); err != nil {
		return &DiskError{err}
	}
	return nil
}

// keep links the old mirror's file into the new one, if it is the same.
func (t *tree) keep(name string, at time.Time, body []byte) bool {
	if t.old == nil {
		return false
	}
	st, err := t.old.Lstat(name)
	if err != nil || !st.Mode().IsRegular() || st.Size() != int64(len(body)) {
		return false
	}
	read, err := t.same(name, body)
	if err != nil || read == nil || !t.link(name, read) {
		return false
	}
	if !at.IsZero() && !st.ModTime().Equal(at) {
		_ = t.root.Chtimes(name, at, at) // the octets are the same: only the date is newer
	}
	return true
}

// same says what the old mirror's file is, if it holds body.
func (t *tree) same(name string, body []byte) (fs.FileInfo, error) {
	f, err := t.old.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	have, err := io.ReadAll(io.LimitReader(f, int64(len(body))+1))
	if err != nil || !bytes.Equal(have, body) {
		return nil, err
	}
	return f.Stat()
}

// link links the file that was read. No link can be made from one os.Root to
// another, and what lies at the path of the old mirror may be another file by
// now: an export to the same place ended, or somebody put it there. What was
// linked is looked at, and is gone if it is not what was read.
func (t *tree) link(name string, read fs.FileInfo) bool {
	if os.Link(filepath.Join(t.out, filepath.FromSlash(name)), filepath.Join(t.tmp, filepath.FromSlash(name))) != nil {
		return false
	}
	st, err := t.root.Lstat(name)
	if err == nil && os.SameFile(st, read) && st.Size() == read.Size() {
		return true
	}
	_ = t.root.Remove(name) // if that fails, so does the writing of the file
	return false
}

func (t *tree) mkdir(dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.made[dir] {
		return nil
	}
	if err := t.root.MkdirAll(dir, 0o755); err != nil {
		return &DiskError{err}
	}
	t.made[dir] = true
	return nil
}

// forget takes note of a directory that is gone.
func (t *tree) forget(dir string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.made, dir)
	if root := t.dirs[dir]; root != nil {
		delete(t.dirs, dir)
		root.Close()
	}
}

// swap puts the new mirror where the old one is, in one step where the system
// can do that.
func (t *tree) swap() error {
	t.closeDirs()
	if err := syncDir(t.tmp); err != nil {
		return t.fail(err)
	}
	t.root.Close()
	if t.old != nil {
		t.old.Close()
	}
	had := t.old != nil
	t.root, t.old = nil, nil
	if !had {
		if err := os.Rename(t.tmp, t.out); err != nil {
			return t.fail(err)
		}
		t.tmp = ""
		return nil
	}
	if err := Exchange(t.tmp, t.out); err != nil {
		return t.fail(err)
	}
	// What is in tmp now is the old mirror, and ours.
	old := t.tmp
	t.tmp = ""
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("%s is the new mirror, but the old one (now %s) could not be removed: %w", t.out, old, err)
	}
	return nil
}

// exchangeByRename is Exchange in three steps.
func exchangeByRename(a, b string) error {
	if l := lock(b); l != nil {
		defer l.Close() // while it is aside, it is nothing left behind
	}
	aside := a + ".old"
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return os.Rename(aside, a)
}
