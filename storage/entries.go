package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// verifyEntries checks the entries of crawl.db other than visits and segments: what they refer to must exist
// and match.
func (a *Archive) verifyEntries(r *Report) error {
	return a.view(func(tx *bbolt.Tx) error {
		for _, each := range []struct {
			bucket []byte
			fits   func(tx *bbolt.Tx, k, v []byte) bool
			what   string
		}{
			{bucketDigests, digestFits, "a payload's digest points to a visit that does not hold it"},
			{bucketRobots, robotsFits, "a robots.txt version cannot be decoded"},
			{bucketBodies, bodyFits, "the text of a robots.txt does not match its version"},
		} {
			err := tx.Bucket(each.bucket).ForEach(func(k, v []byte) error {
				if !each.fits(tx, k, v) {
					r.index(each.what)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func digestFits(tx *bbolt.Tx, k, v []byte) bool {
	if len(v) != crawllog.RefSize {
		return false
	}
	visit, err := getVisit(tx, crawllog.RefOf(v))
	if err != nil || visit == nil {
		return false
	}
	if strings.HasPrefix(visit.Digest, "sha1:") { // an archive of schema 5: its SHA-256 digests are not used any more
		return len(k) == sha256.Size
	}
	return len(k) > 0 && bytes.Equal(digestKey(visit.Digest), k)
}

func robotsFits(tx *bbolt.Tx, k, v []byte) bool {
	var r crawllog.RobotsVersion
	b, ok := sum.Open(k, v)
	if !ok || json.Unmarshal(b, &r) != nil {
		return false
	}
	d, ok := warc.ParseDigest(r.Digest)
	return !ok || bodyFits(tx, d[:], tx.Bucket(bucketBodies).Get(d[:]))
}

func bodyFits(_ *bbolt.Tx, k, v []byte) bool {
	_, ok := sum.Open(k, v)
	return ok
}
