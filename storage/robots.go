package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

type robotsPut struct {
	version crawllog.RobotsVersion
	body    []byte
}

// AddRobots adds a version of a robots.txt to the group. The caller must not modify the body afterwards.
func (a *Archive) AddRobots(v crawllog.RobotsVersion, body []byte) {
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
		if !ok || r.body == nil { // not modified: the body is already stored
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

// Robots returns the history of an origin's robots.txt, oldest first.
func (a *Archive) Robots(origin string) (history []crawllog.RobotsVersion, err error) {
	err = a.view(func(tx *bbolt.Tx) error {
		prefix := append([]byte(origin), 0)
		c := tx.Bucket(bucketRobots).Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			r, err := readRobots(k, v)
			if err != nil {
				return err
			}
			history = append(history, *r)
		}
		return nil
	})
	return history, err
}

// RobotsInForce returns the robots.txt version of an origin that was in force at a time: the last usable one
// fetched by then or, if there is none, the first usable one. The zero time is now. It returns nil if there
// is no usable version.
func (a *Archive) RobotsInForce(origin string, at time.Time) (v *crawllog.RobotsVersion, err error) {
	prefix := append([]byte(origin), 0)
	behind := append([]byte(origin), 1)
	if !at.IsZero() {
		behind = robotsKey(origin, at.Add(1))
	}
	err = a.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucketRobots).Cursor()
		for k, b := before(c, behind); v == nil && bytes.HasPrefix(k, prefix); k, b = c.Prev() {
			if v, err = usedRobots(k, b); err != nil {
				return err
			}
		}
		for k, b := c.Seek(prefix); v == nil && bytes.HasPrefix(k, prefix); k, b = c.Next() {
			if v, err = usedRobots(k, b); err != nil {
				return err
			}
		}
		return nil
	})
	return v, err
}

// before returns the last entry before a key.
func before(c *bbolt.Cursor, key []byte) (k, v []byte) {
	if k, _ := c.Seek(key); k == nil {
		return c.Last()
	}
	return c.Prev()
}

func readRobots(k, sealed []byte) (*crawllog.RobotsVersion, error) {
	r := new(crawllog.RobotsVersion)
	b, whole := sum.Open(k, sealed)
	if !whole || json.Unmarshal(b, r) != nil {
		return nil, &DamageError{File: dbName, What: "a robots.txt version cannot be decoded"}
	}
	return r, nil
}

// usedRobots returns a version that was usable; nil for another.
func usedRobots(k, sealed []byte) (*crawllog.RobotsVersion, error) {
	r, err := readRobots(k, sealed)
	if err != nil || !r.Used {
		return nil, err
	}
	return r, nil
}

// RobotsBody returns the text of a version; nil if it had none.
func (a *Archive) RobotsBody(v *crawllog.RobotsVersion) (body []byte, err error) {
	d, ok := warc.ParseDigest(v.Digest)
	if !ok {
		return nil, nil
	}
	err = a.view(func(tx *bbolt.Tx) error {
		sealed := tx.Bucket(bucketBodies).Get(d[:])
		b, whole := sum.Open(d[:], sealed)
		if sealed != nil && !whole {
			return &DamageError{File: dbName, What: "the text of a robots.txt cannot be decoded"}
		}
		body = bytes.Clone(b)
		return nil
	})
	return body, err
}
