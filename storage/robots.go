package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
	"curtsy/storage/warc"
)

// RobotsVersion is one fetch of a robots.txt: the history that tells which
// rules were in force when.
type RobotsVersion struct {
	Origin  string    `json:"origin"`
	At      time.Time `json:"at"`
	Expires time.Time `json:"expires"` // fetched again after this
	Status  int       `json:"status"`
	Error   string    `json:"error,omitempty"`
	Type    string    `json:"content_type,omitempty"`
	Digest  string    `json:"digest,omitempty"` // of the body; "" if there is none
	ETag    string    `json:"etag,omitempty"`
	LastMod string    `json:"last_modified,omitempty"`
	// Used is false for a failed fetch, during which the version before stays in force.
	Used bool `json:"used"`
}

// Short is the version's digest as people read it.
func (r RobotsVersion) Short() string { return ShortDigest(r.Digest) }

// ShortDigest abbreviates a labelled digest.
func ShortDigest(d string) string {
	parsed, ok := warc.ParseDigest(d)
	if !ok {
		return ""
	}
	return hex.EncodeToString(parsed[:5])
}

type robotsPut struct {
	version RobotsVersion
	body    []byte
}

// AddRobots makes a version of a robots.txt part of the group. The body must
// not change afterwards.
func (a *Archive) AddRobots(v RobotsVersion, body []byte) {
	a.pend.robots = append(a.pend.robots, robotsPut{v, body})
}

func (a *Archive) putRobots(tx *bbolt.Tx) error {
	for _, r := range a.pend.robots {
		b, err := json.Marshal(r.version)
		if err != nil {
			return err
		}
		key := robotsKey(r.version.Origin, r.version.At)
		if err := tx.Bucket(bucketRobots).Put(key, sum.Seal(key, b)); err != nil {
			return err
		}
		d, ok := warc.ParseDigest(r.version.Digest)
		if !ok || r.body == nil { // not modified: its body is held
			continue
		}
		if err := tx.Bucket(bucketBodies).Put(d[:], sum.Seal(d[:], bytes.Clone(r.body))); err != nil {
			return err
		}
	}
	return nil
}

func robotsKey(origin string, at time.Time) []byte {
	b := append([]byte(origin), 0)
	return binary.BigEndian.AppendUint64(b, uint64(at.UnixNano()))
}

// Robots is the history of an origin's robots.txt, the oldest first.
func (a *Archive) Robots(origin string) ([]RobotsVersion, error) {
	var history []RobotsVersion
	err := a.db.View(func(tx *bbolt.Tx) error {
		prefix := append([]byte(origin), 0)
		c := tx.Bucket(bucketRobots).Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			var r RobotsVersion
			v, whole := sum.Open(k, v)
			if !whole || json.Unmarshal(v, &r) != nil {
				return &DamageError{File: dbName, What: "a robots.txt version does not read back"}
			}
			history = append(history, r)
		}
		return nil
	})
	return history, err
}

// RobotsBody is the text of a version; nil if it had none.
func (a *Archive) RobotsBody(v RobotsVersion) (body []byte, err error) {
	d, ok := warc.ParseDigest(v.Digest)
	if !ok {
		return nil, nil
	}
	err = a.db.View(func(tx *bbolt.Tx) error {
		sealed := tx.Bucket(bucketBodies).Get(d[:])
		b, whole := sum.Open(d[:], sealed)
		if sealed != nil && !whole {
			return &DamageError{File: dbName, What: "the text of a robots.txt does not read back"}
		}
		body = bytes.Clone(b)
		return nil
	})
	return body, err
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
