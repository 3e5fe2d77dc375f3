package storage

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
)

// begin makes crawl.db, if there is none. It is made whole under another name
// first: a kill, or a full disk, within bbolt's first writes would leave a file
// that is damaged for good.
func begin(dir string) error {
	path := filepath.Join(dir, dbName)
	st, err := os.Stat(path)
	if err == nil && st.Size() > 0 {
		return nil
	}
	made := fmt.Sprintf("%s.%d.new", path, os.Getpid())
	if err := os.Remove(made); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	defer os.Remove(made)
	if err := makeDB(made); err != nil {
		return refused(err)
	}
	if err == nil { // empty
		err = os.Rename(made, path)
	} else if err = os.Link(made, path); errors.Is(err, fs.ErrExist) {
		return nil // another curtsy was quicker
	} else if err != nil { // no links on this file system
		err = os.Rename(made, path)
	}
	if err != nil {
		return err
	}
	return named(dir)
}

func makeDB(path string) error {
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{Timeout: lockTimeout, NoStatistics: true})
	if err != nil {
		return err
	}
	return errors.Join(db.Update(create), db.Close())
}

func create(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketMeta, bucketSegments, bucketVisits, bucketDigests, bucketRobots, bucketBodies} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	m := tx.Bucket(bucketMeta)
	if err := m.Put(keyKey, sum.Seal(keyKey, key)); err != nil {
		return err
	}
	return m.Put(keySchema, binary.BigEndian.AppendUint32(nil, schema))
}

// named makes the names of a new archive and of its crawl.db durable, as its
// segments' are: else a power loss might leave segments without a crawl.db.
func named(dir string) error {
	if err := syncDir(dir); err != nil {
		return err
	}
	err := syncDir(filepath.Dir(filepath.Clean(dir)))
	if errors.Is(err, fs.ErrPermission) {
		return nil // a directory that we may enter and not read, made by another
	}
	return err
}
