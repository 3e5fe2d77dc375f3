package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// dirStore is a directory that several machines may share. An object that is swapped is a
// directory with a file per version, NAME.v/00000007. The next version is created by link(2),
// which fails if the name exists, also on NFS. So no lock is needed, and a killed process
// leaves none.
type dirStore struct{ root string }

func newDir(root string) (*dirStore, error) {
	d := &dirStore{root}
	return d, os.MkdirAll(d.path(tmpDir), 0o755)
}

const tmpDir = ".tmp"

// keptVersions is how many versions of an object are kept. While a version exists nobody else
// can create it, so a version created within that distance of the newest was created first. It
// also ensures that a concurrent listing of the directory sees some versions.
const keptVersions = 16

func (d *dirStore) path(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

// versions returns the directory of an object's versions.
func versions(key string) string { return key + ".v" }

func versioned(key string, version int) string {
	return fmt.Sprintf("%s/%08d", versions(key), version)
}

// objectOf returns the object that a file holds, or holds a version of.
func objectOf(file string) string {
	dir, name := path.Split(file)
	if key, ok := strings.CutSuffix(dir, versions("")+"/"); ok && isVersion(name) > 0 {
		return key
	}
	return file
}

// isVersion returns the number of a version, given its file name; 0 for other names.
func isVersion(name string) int {
	n, err := strconv.Atoi(name)
	if err != nil || n < 1 {
		return 0
	}
	return n
}

// newest returns the number of an object's newest version, and of all versions.
func (d *dirStore) newest(key string) (n int, others []int, err error) {
	entries, err := os.ReadDir(d.path(versions(key)))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, nil
	}
	for _, e := range entries {
		if v := isVersion(e.Name()); v > 0 {
			others = append(others, v)
			n = max(n, v)
		}
	}
	return n, others, err
}

func (d *dirStore) Get(_ context.Context, key string) ([]byte, string, error) {
	for range 10 { // a version may be removed during the search
		n, _, err := d.newest(key)
		if err != nil {
			return nil, "", err
		}
		if n == 0 {
			return nil, "", fmt.Errorf("%s: %w", key, ErrNotFound)
		}
		b, err := os.ReadFile(d.path(versioned(key, n)))
		if !errors.Is(err, fs.ErrNotExist) {
			return b, strconv.Itoa(n), err
		}
	}
	return nil, "", fmt.Errorf("%s: %w", key, ErrConflict)
}

func (d *dirStore) Swap(_ context.Context, key string, data []byte, tag string) (string, error) {
	had, err := strconv.Atoi(cmp.Or(tag, "0"))
	if err != nil {
		return "", ErrConflict
	}
	now, _, err := d.newest(key)
	if err == nil && now != had {
		err = ErrConflict
	}
	if err != nil {
		return "", err
	}
	mine := had + 1
	if err := d.write(versioned(key, mine), strings.NewReader(string(data))); err != nil {
		return "", err
	}
	now, all, err := d.newest(key)
	if err != nil {
		return "", err
	}
	if now >= mine+keptVersions { // this process was suspended, and the version number had become free again
		return "", errors.Join(ErrConflict, d.remove(versioned(key, mine)))
	}
	for _, n := range all {
		if n <= now-keptVersions {
			os.Remove(d.path(versioned(key, n)))
		}
	}
	return strconv.Itoa(mine), nil
}

// write creates a complete, durable file, or returns ErrConflict if it exists.
func (d *dirStore) write(key string, r io.Reader) error {
	name, tmp := d.path(key), d.path(tmpDir+"/"+rand.Text())
	if err := makeDir(filepath.Dir(name)); err != nil {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp, name); errors.Is(err, fs.ErrExist) {
		return ErrConflict
	} else if err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// makeDir creates a directory and its parents durably.
func makeDir(dir string) error {
	if st, err := os.Stat(dir); err == nil && st.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if err := makeDir(above); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(above)
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Put keeps an existing object, since objects are written once.
func (d *dirStore) Put(_ context.Context, key string, body *io.SectionReader) error {
	if st, err := os.Stat(d.path(key)); err == nil && st.Size() >= body.Size() {
		return nil
	}
	err := d.write(key, body)
	if errors.Is(err, ErrConflict) {
		return fmt.Errorf("%s: it already exists, with fewer than %d bytes", key, body.Size())
	}
	return err
}

func (d *dirStore) Open(_ context.Context, key string) (io.ReadCloser, int64, error) {
	f, err := os.Open(d.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size(), nil
}

func (d *dirStore) List(_ context.Context, prefix string) iter.Seq2[string, error] {
	dir := d.root
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		dir = d.path(prefix[:i])
	}
	return func(yield func(string, error) bool) {
		seen := map[string]bool{}
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			rel, relErr := filepath.Rel(d.root, path)
			key := filepath.ToSlash(rel)
			switch {
			case errors.Is(err, fs.ErrNotExist): // removed meanwhile
				return nil
			case err != nil || relErr != nil:
				return errors.Join(err, relErr)
			case e.IsDir() && key == tmpDir:
				return fs.SkipDir
			case e.IsDir() || !strings.HasPrefix(key, prefix):
				return nil
			}
			if key = objectOf(key); seen[key] {
				return nil
			}
			seen[key] = true
			if !yield(key, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield("", err)
		}
	}
}

// Remove removes an object. Of one that is swapped, it removes the newest version last, since
// that one prevents the creation of others.
func (d *dirStore) Remove(_ context.Context, key string) error {
	_, all, err := d.newest(key)
	if err != nil {
		return err
	}
	for _, v := range slices.Sorted(slices.Values(all)) {
		err = errors.Join(err, d.remove(versioned(key, v)))
	}
	if len(all) > 0 {
		_ = os.Remove(d.path(versions(key))) // another process may have written there
	}
	return errors.Join(err, d.remove(key))
}

func (d *dirStore) remove(key string) error {
	err := os.Remove(d.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
