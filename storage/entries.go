package storage

import (
	"bytes"
	"encoding/json"

	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
	"curtsy/storage/warc"
)

// wrongEntries calls wrong for every entry of crawl.db, other than visits and
// segments, that does not say what it said: what it names is not there, or is
// another.
func wrongEntries(tx *bbolt.Tx, wrong func(b *bbolt.Bucket, key []byte, what string) error) error {
	for _, each := range []struct {
		bucket []byte
		fits   func(tx *bbolt.Tx, k, v []byte) bool
		what   string
	}{
		{bucketDigests, digestFits, "a payload's digest names another visit than the one that holds it"},
		{bucketRobots, robotsFits, "a robots.txt version does not read back"},
		{bucketBodies, bodyFits, "the text of a robots.txt is another"},
	} {
		b := tx.Bucket(each.bucket)
		err := b.ForEach(func(k, v []byte) error {
			if each.fits(tx, k, v) {
				return nil
			}
			return wrong(b, k, each.what)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func digestFits(tx *bbolt.Tx, k, v []byte) bool {
	if len(v) != 10 {
		return false
	}
	visit, err := getVisit(tx, refOf(v))
	if err != nil || visit == nil {
		return false
	}
	d, ok := warc.ParseDigest(visit.Digest)
	return ok && bytes.Equal(d[:], k)
}

func robotsFits(tx *bbolt.Tx, k, v []byte) bool {
	var r RobotsVersion
	b, ok := sum.Open(k, v)
	if !ok || json.Unmarshal(b, &r) != nil {
		return false
	}
	d, ok := warc.ParseDigest(r.Digest)
	return !ok || tx.Bucket(bucketBodies).Get(d[:]) != nil
}

func bodyFits(_ *bbolt.Tx, k, v []byte) bool {
	_, ok := sum.Open(k, v)
	return ok
}

func (a *Archive) verifyEntries(r *Report) error {
	return a.db.View(func(tx *bbolt.Tx) error {
		return wrongEntries(tx, func(_ *bbolt.Bucket, _ []byte, what string) error {
			r.add(Problem{File: dbName, Offset: -1, What: what})
			return nil
		})
	})
}

// dropWrong removes what wrongEntries finds: a payload may be kept twice then,
// and a robots.txt is fetched again.
func dropWrong(tx *bbolt.Tx) error {
	for {
		var from *bbolt.Bucket
		var keys [][]byte
		err := wrongEntries(tx, func(b *bbolt.Bucket, k []byte, _ string) error {
			if from == nil || from == b {
				from, keys = b, append(keys, bytes.Clone(k))
			}
			return nil
		})
		if err != nil || from == nil {
			return err
		}
		for _, k := range keys {
			if err := from.Delete(k); err != nil {
				return err
			}
		}
	}
}

// Visited says whether there is a visit of the URL.
func Visited(tx *bbolt.Tx, urlID uint64) bool {
	first := Ref{urlID, 0}.key()
	k, _ := tx.Bucket(bucketVisits).Cursor().Seek(first)
	return len(k) == len(first) && bytes.Equal(k[:8], first[:8])
}
