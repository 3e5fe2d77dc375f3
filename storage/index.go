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

// whole says whether the file, if there is one, is such that bbolt can read
// it: it looks for pages beyond the end, and follows a circle for ever.
func whole(path string) error {
	st, err := os.Stat(path)
	if err != nil || st.Size() == 0 {
		return nil // there is none yet
	}
	db, err := openDB(path, bbolt.Options{Timeout: lockTimeout, ReadOnly: true})
	if err != nil {
		return openError(path, err)
	}
	defer db.Close() // until then nobody writes
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return err
	}
	if err := checkPages(f, st.Size()); err != nil {
		return &DamageError{File: path, What: err.Error()}
	}
	return nil
}

// neverLost refuses to begin an archive anew where segments show that there
// was one: opening would take all of them for what a kill left behind.
func neverLost(dir string) error {
	path := filepath.Join(dir, dbName)
	st, err := os.Stat(path)
	if err == nil && st.Size() > 0 {
		return nil
	}
	segments, listErr := segmentFiles(dir)
	if listErr != nil || len(segments) == 0 {
		return listErr
	}
	what := "empty"
	if err != nil {
		what = "missing"
	}
	return &DamageError{File: path, What: fmt.Sprintf("%s, but its segments are there (%d): it can be rebuilt from them, or put back from a backup", what, len(segments))}
}

// openDB opens a bbolt file. Where bbolt panics over what is in it, the file
// and its lock are given free.
func openDB(path string, o bbolt.Options) (db *bbolt.DB, err error) {
	var file *os.File
	o.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		file, err = os.OpenFile(name, flag, mode)
		return file, err
	}
	defer func() {
		if db == nil && file != nil {
			mapped.Unlock(file)
			file.Close()
		}
	}()
	defer Guard(&err)()
	return bbolt.Open(path, 0o644, &o)
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
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return &DamageError{File: path, What: err.Error()}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%s: %w", path, err)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return err
	}
	return &DamageError{File: path, What: err.Error()}
}
