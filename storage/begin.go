package storage

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"curtsy/frontier"
	"curtsy/internal/sum"
)

// begin creates crawl.db if there is none. It is created under another name first: after a kill or a full
// disk during bbolt's first writes the file would be unusable.
func (d *directory) begin() error {
	st, err := d.stat(dbName)
	if err == nil && st.Size() > 0 {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	made := fmt.Sprintf("%s.%d.new", dbName, os.Getpid())
	if err := d.remove(made); err != nil {
		return err
	}
	defer d.remove(made)
	if err := d.makeDB(made); err != nil {
		return refused(err)
	}
	if err == nil { // an empty file
		err = d.rename(made, dbName)
	} else if err = d.link(made, dbName); errors.Is(err, fs.ErrExist) {
		return nil // another process was faster
	} else if err != nil { // the file system has no hard links
		err = d.rename(made, dbName)
	}
	if err != nil {
		return err
	}
	return d.named()
}

func (d *directory) makeDB(name string) error {
	db, _, err := d.openDB(name, bbolt.Options{Timeout: lockTimeout, NoStatistics: true})
	if err != nil {
		return err
	}
	return errors.Join(guarded(func(*reach) error { return db.Update(create) }), db.Close())
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
	if err := frontier.Create(tx); err != nil {
		return err
	}
	return raiseSchema(tx)
}

// raiseSchema sets the schema version to the present one.
func raiseSchema(tx *bbolt.Tx) error {
	m, now := tx.Bucket(bucketMeta), binary.BigEndian.AppendUint32(nil, schema)
	if bytes.Equal(m.Get(keySchema), now) {
		return nil
	}
	return m.Put(keySchema, now)
}

// named syncs the directories, so that the names of a new archive and of its crawl.db are as durable as
// those of its segments: else a power loss could leave segments without a crawl.db.
func (d *directory) named() error {
	if err := d.sync(dbName); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(filepath.Clean(d.path)))
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil // another user's directory that we cannot read, or it was moved
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	return parent.Sync()
}
