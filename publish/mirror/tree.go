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

// tree is a mirror being made in a directory beside OUT, which replaces OUT at the end.
type tree struct {
	out  string   // its final path
	tmp  string   // its temporary path
	lock *os.File // on tmp, while it is being made
	root *os.Root // of tmp
	old  *os.Root // the existing mirror; nil if none
	mu   sync.Mutex
	made map[string]bool // directories created

	most    int64 // size limit of the mirror in bytes; 0: none
	minFree int64 // bytes to leave free on the disk
	size    atomic.Int64
}

// tmpMark is part of the name of the temporary directory.
const tmpMark = ".curtsy-new-"

// newTree creates the temporary directory. It refuses an OUT that is neither empty nor a
// mirror.
func newTree(out string) (*tree, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real // a link to a mirror stays a link
	}
	t := &tree{out: out, made: map[string]bool{".": true}}
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

// Place returns an error if Export could not write a mirror to out: because something else is
// there, or its parent is not writable.
func Place(out string) error {
	t, err := newTree(out)
	if err != nil {
		return err
	}
	t.discard()
	return nil
}

func (t *tree) fail(err error) error {
	t.discard()
	return &DiskError{err}
}

// openOld opens the mirror in out; nil if there is none. A directory with files that its map
// does not list is not a mirror.
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

// foreign returns an error if a directory holds anything that is not part of a mirror.
func foreign(root *os.Root) error {
	ours := map[string]bool{}
	m, err := readMap(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case storage.IsDisk(err):
		return err // it may be a mirror
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

// sweep removes what killed exports left. Directories younger than an hour may belong to an
// export that has not locked yet; older ones without a lock are abandoned.
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

// discard removes the temporary directory. The old mirror is untouched.
func (t *tree) discard() {
	for _, r := range []*os.Root{t.root, t.old} {
		if r != nil {
			r.Close()
		}
	}
	if t.tmp != "" {
		os.RemoveAll(t.tmp)
	}
	t.lock.Close() // closing a nil file does no harm
	t.root, t.old, t.lock, t.tmp = nil, nil, nil, ""
}

// put writes a file. If the old mirror has the same file, it is linked.
func (t *tree) put(name string, at time.Time, body []byte) error {
	if err := t.mkdir(path.Dir(name)); err != nil {
		return err
	}
	if t.keep(name, at, body) {
		return t.grow(int64(len(body)))
	}
	return t.stream(name, at, bytes.NewReader(body))
}

// stream writes a file from a reader. An error of the reader is not a DiskError, and leaves no
// file.
func (t *tree) stream(name string, at time.Time, r io.Reader) error {
	if err := t.mkdir(path.Dir(name)); err != nil {
		return err
	}
	f, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|asFile, 0o644)
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
		if e := t.root.Remove(name); e != nil {
			return &DiskError{e}
		}
		return err
	}
	if !at.IsZero() {
		if e := t.root.Chtimes(name, at, at); e != nil {
			return &DiskError{e}
		}
	}
	return nil
}

// diskWriter tells errors of writing from errors of the reader.
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

// looked is how many bytes are written between checks of the free disk space.
const looked = 256 << 10

// ErrTooMuch means that the mirror would exceed its size limit.
var ErrTooMuch = errors.New("the mirror would exceed its size limit")

// grow accounts for n more bytes; an error says that there is no room.
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

// keep links the old mirror's file into the new one if it is the same.
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
		_ = t.root.Chtimes(name, at, at) // same content, newer date
	}
	return true
}

// same returns the file info of the old mirror's file if its content is body.
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

// link hard-links the file that was read. os.Root cannot link between roots, and the path may
// by now lead to another file, if another export to the same place has ended. So it checks what
// it linked, and removes it if it is not the file that was read.
func (t *tree) link(name string, read fs.FileInfo) bool {
	if os.Link(filepath.Join(t.out, filepath.FromSlash(name)), filepath.Join(t.tmp, filepath.FromSlash(name))) != nil {
		return false
	}
	st, err := t.root.Lstat(name)
	if err == nil && os.SameFile(st, read) && st.Size() == read.Size() {
		return true
	}
	_ = t.root.Remove(name) // if this fails, writing the file fails too
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

// forget records that a directory was removed.
func (t *tree) forget(dir string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.made, dir)
}

// swap replaces the old mirror by the new one, atomically where the system supports it.
func (t *tree) swap() error {
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
	// tmp is now the old mirror.
	old := t.tmp
	t.tmp = ""
	if err := os.RemoveAll(old); err != nil {
		return fmt.Errorf("%s is the new mirror, but the old one (now %s) could not be removed: %w", t.out, old, err)
	}
	return nil
}

// exchangeByRename is Exchange by three renames.
func exchangeByRename(a, b string) error {
	if l := lock(b); l != nil {
		defer l.Close() // sweep must not remove it meanwhile
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
