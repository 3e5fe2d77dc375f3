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

// reason is why a file is built.
type reason uint8

const (
	untrusted reason = iota
	damaged
)

// build makes an empty index.db as index.db.new and gives it its name: from
// then on it is whole at any moment, and Refresh fills it. Nobody has the old
// one open meanwhile, so that its write-ahead log cannot come to stand beside
// the new file.
func (p *place) build(ctx context.Context, a *storage.Archive, why reason) error {
	defer p.share()
	ours, err := p.exclusive(a, why)
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

// exclusive waits, not for long, until nobody else has index.db open, or, if it
// was untrusted, until another has made one that is ours.
func (p *place) exclusive(a *storage.Archive, why reason) (ours bool, err error) {
	for range 50 {
		if why == untrusted && p.trusted(a) {
			return true, nil
		}
		if alone, err := p.lock.TryLock(); alone || err != nil {
			return why == untrusted && p.trusted(a), err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false, errPlace
}

// share gives back what exclusive took. A lock that could not be had alone is none any more.
func (p *place) share() error { return cmp.Or(p.lock.Unlock(), p.lock.RLock()) }

// fill makes the tables and signs the file.
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

// remove takes a file and what SQLite leaves beside it away. A symbolic link is
// removed itself, not what it leads to.
func remove(path string) error {
	for _, suffix := range []string{"-wal", "-shm", "-journal", ""} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
