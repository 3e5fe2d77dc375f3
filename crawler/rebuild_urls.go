package crawler

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// known is what a rebuild knows of a URL that was visited.
type known struct {
	id uint64
	n  int // visits so far
}

// knownURLs finds the URLs that a rebuild has met. There may be too many for
// memory, and the frontier finds none without looking at all: so they are in
// a file of their own, which goes when the rebuild is done.
type knownURLs struct {
	db    *bbolt.DB
	path  string
	fresh map[[16]byte]known // not yet written
}

// maxFresh is how many are written at a time: enough that the pages of the
// file are not written again for each.
const maxFresh = 1 << 15

var bucketKnown = []byte("known")

func openKnownURLs(dir string) (*knownURLs, error) {
	path := filepath.Join(dir, "crawl.db.rebuilding-urls")
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucketKnown)
		return err
	})
	return &knownURLs{db: db, path: path, fresh: map[[16]byte]known{}}, err
}

func (k *knownURLs) close() {
	k.db.Close()
	os.Remove(k.path)
}

func knownKey(url string) (key [16]byte) {
	sum := sha256.Sum256([]byte(url))
	return [16]byte(sum[:16])
}

func (k *knownURLs) get(url string) (v known, ok bool) {
	key := knownKey(url)
	if v, ok = k.fresh[key]; ok {
		return v, ok
	}
	_ = k.db.View(func(tx *bbolt.Tx) error {
		if b := tx.Bucket(bucketKnown).Get(key[:]); len(b) == 12 {
			v, ok = known{binary.BigEndian.Uint64(b), int(binary.BigEndian.Uint32(b[8:]))}, true
		}
		return nil
	})
	return v, ok
}

func (k *knownURLs) put(url string, v known) error {
	k.fresh[knownKey(url)] = v
	if len(k.fresh) < maxFresh {
		return nil
	}
	defer clear(k.fresh)
	return k.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketKnown)
		for key, v := range k.fresh {
			value := binary.BigEndian.AppendUint64(nil, v.id)
			if err := b.Put(key[:], binary.BigEndian.AppendUint32(value, uint32(v.n))); err != nil {
				return err
			}
		}
		return nil
	})
}
