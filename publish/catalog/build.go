package catalog

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"curtsy/storage"
)

// build creates an empty index.db as index.db.new and renames it, so that index.db is complete
// at any moment; Refresh fills it. It holds the lock exclusively, so that no process has the
// old file open and could leave its write-ahead log beside the new one. damaged means that a
// trusted file is to be replaced too.
func (p *place) build(ctx context.Context, a *storage.Archive, damaged bool) error {
	defer p.share()
	ours, err := p.exclusive(a, damaged)
	if ours || err != nil {
		return err
	}
	fresh := p.file() + ".new"
	if err = remove(fresh); err == nil {
		err = p.fill(ctx, a, fresh)
	}
	if err == nil {
		err = remove(p.file())
	}
	if err == nil {
		err = os.Rename(fresh, p.file())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("build %s: %w", p.file(), err), remove(fresh))
	}
	return nil
}

// exclusive waits up to a second for the exclusive lock, or, if the file is not damaged, until
// another process has built a trusted one (ours).
func (p *place) exclusive(a *storage.Archive, damaged bool) (ours bool, err error) {
	for range 50 {
		if !damaged && p.trusted(a) {
			return true, nil
		}
		if alone, err := p.lock.TryLock(); alone || err != nil {
			return !damaged && p.trusted(a), err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false, errPlace
}

// share returns to a shared lock. After a failed TryLock the shared lock may be lost, so that
// it is taken again.
func (p *place) share() error { return cmp.Or(p.lock.Unlock(), p.lock.RLock()) }

// fill creates the tables and writes the signature.
func (p *place) fill(ctx context.Context, a *storage.Archive, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	f.Close()
	db, err := openFile(path)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	version, id := p.signature(a)
	_, err = db.ExecContext(ctx, fmt.Sprintf("BEGIN; %s PRAGMA user_version=%d; PRAGMA application_id=%d; COMMIT; "+
		"PRAGMA wal_checkpoint(TRUNCATE);",
		tables, int32(binary.BigEndian.Uint32(version)), int32(binary.BigEndian.Uint32(id))))
	if err != nil {
		return err
	}
	return db.Close()
}

// remove deletes a database file and the files that SQLite keeps beside it. Symbolic links are
// deleted, not followed.
func remove(path string) error {
	for _, suffix := range []string{"-wal", "-shm", "-journal", ""} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
