package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"curtsy/internal/mapped"
)

// lockTimeout is how long to wait for another process to release a lock.
const lockTimeout = 200 * time.Millisecond

// checkStructure checks that bbolt can read crawl.db: bbolt would follow references beyond the end, and
// cycles forever. It reads the whole file.
func (d *directory) checkStructure(name string) error {
	f, err := d.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if err := checkPages(f, st.Size()); err != nil {
		return &DamageError{File: name, What: err.Error()}
	}
	return nil
}

// file returns the displayed path of a name.
func (d *directory) file(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// neverLost returns an error if crawl.db is missing although there are segments: opening the archive as a new
// one would treat them as the remains of a kill.
func (d *directory) neverLost() error {
	st, err := d.stat(dbName)
	if err == nil && st.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	segments, listErr := d.segmentNames()
	if listErr != nil || len(segments) == 0 {
		return listErr
	}
	what := "empty"
	if err != nil {
		what = "missing"
	}
	return &DamageError{File: d.file(dbName),
		What: fmt.Sprintf("%s, but its segments are there (%d): it can be rebuilt from them, or restored from a backup",
			what, len(segments))}
}

// openDB opens a bbolt file. If bbolt panics because of its contents, the file is closed and unlocked.
func (d *directory) openDB(name string, o bbolt.Options) (db *bbolt.DB, file *os.File, err error) {
	o.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		file, err = d.openFile(name, flag, mode)
		return file, err
	}
	defer func() {
		if db == nil && file != nil {
			mapped.Unlock(file)
			file.Close()
		}
	}()
	defer Guard(&err)()
	err = guarded(func(*reach) (err error) {
		db, err = bbolt.Open(name, 0o644, &o)
		return err
	})
	return db, file, err
}

func openError(path string, err error) error {
	var damage *DamageError
	switch {
	case IsDisk(err):
		return fmt.Errorf("%s: %w", path, err)
	case errors.As(err, &damage):
		return &DamageError{File: path, What: damage.What}
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("%s: %w", path, ErrInUse)
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum),
		errors.Is(err, berrors.ErrVersionMismatch):
		return &DamageError{File: path, What: err.Error()}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s: %w", path, err)
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return &DamageError{File: path, What: err.Error()}
}
