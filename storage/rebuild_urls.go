package storage

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"

	"go.etcd.io/bbolt"
)

// urlsName is the file in which a rebuild notes the URLs that it has met.
const urlsName = rebuildName + "-urls"

// Met is what a rebuild knows of a URL that was visited.
type Met struct {
	ID     uint64
	Visits int // so far
}

// metURLs finds the URLs that a rebuild has met. There may be too many for
// memory, and the frontier finds none without looking at all: so they are in
// a file of their own, which goes when the rebuild is done.
type metURLs struct {
	db    *bbolt.DB
	dir   *directory
	fresh map[[16]byte]Met // not yet written
}

// maxFresh is how many are written at a time: enough that the pages of the
// file are not written again for each.
const maxFresh = 1 << 15

var bucketMet = []byte("met")

func (d *directory) openMetURLs() (*metURLs, error) {
	if err := d.remove(urlsName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	db, _, err := d.openDB(urlsName, bbolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		return nil, err
	}
	err = updateDB(db, func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucketMet)
		return err
	})
	return &metURLs{db: db, dir: d, fresh: map[[16]byte]Met{}}, err
}

func (k *metURLs) close() {
	k.db.Close()
	_ = k.dir.remove(urlsName) // the next rebuild does it again if this fails
}

func metKey(url string) (key [16]byte) {
	sum := sha256.Sum256([]byte(url))
	return [16]byte(sum[:16])
}

// Met is what was noted of a URL; false if nothing.
func (r *Rebuild) Met(url string) (m Met, ok bool) {
	key := metKey(url)
	if m, ok = r.met.fresh[key]; ok {
		return m, ok
	}
	_ = viewDB(r.met.db, func(tx *bbolt.Tx) error {
		if b := tx.Bucket(bucketMet).Get(key[:]); len(b) == 12 {
			m, ok = Met{binary.BigEndian.Uint64(b), int(binary.BigEndian.Uint32(b[8:]))}, true
		}
		return nil
	})
	return m, ok
}

// Meet notes a URL for as long as the rebuild goes on.
func (r *Rebuild) Meet(url string, m Met) error {
	k := r.met
	k.fresh[metKey(url)] = m
	if len(k.fresh) < maxFresh {
		return nil
	}
	defer clear(k.fresh)
	return updateDB(k.db, func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketMet)
		for key, m := range k.fresh {
			value := binary.BigEndian.AppendUint64(nil, m.ID)
			if err := b.Put(key[:], binary.BigEndian.AppendUint32(value, uint32(m.Visits))); err != nil {
				return err
			}
		}
		return nil
	})
}
