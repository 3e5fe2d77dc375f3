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

// lockTimeout is how long another process may take to give crawl.db free.
const lockTimeout = 200 * time.Millisecond

// checkStructure says whether crawl.db is such that bbolt can read it: it looks
// for pages beyond the end, and follows a circle for ever. It reads all of it.
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

// file is a name as people know it.
func (d *directory) file(name string) string { return filepath.Join(d.path, filepath.FromSlash(name)) }

// neverLost refuses to begin an archive anew where segments show that there
// was one: opening would take all of them for what a kill left behind.
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

// openDB opens a bbolt file. Where bbolt panics over what is in it, the file
// and its lock are given free.
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
