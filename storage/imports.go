package storage

import (
	"bytes"
	"encoding/json"

	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
)

// Note stores a value of an import under a name, as part of the group; nil deletes it. The value must not be
// changed before the commit.
func (a *Archive) Note(name string, value any) { a.pend.notes[name] = value }

func (a *Archive) putNotes(tx *bbolt.Tx) error {
	if len(a.pend.notes) == 0 {
		return nil
	}
	notes, err := tx.CreateBucketIfNotExists(bucketImports)
	if err != nil {
		return err
	}
	for name, value := range a.pend.notes {
		key := []byte(name)
		b, err := json.Marshal(value)
		if err == nil && value == nil {
			err = notes.Delete(key)
		} else if err == nil {
			err = notes.Put(key, sum.Seal(key, b))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Noted decodes a committed note into value; ok is false if there is none.
func (a *Archive) Noted(name string, value any) (ok bool, err error) {
	err = a.view(func(tx *bbolt.Tx) error {
		notes := tx.Bucket(bucketImports)
		if notes == nil {
			return nil
		}
		sealed := notes.Get([]byte(name))
		if ok = sealed != nil; !ok {
			return nil
		}
		b, whole := sum.Open([]byte(name), sealed)
		if !whole || json.Unmarshal(b, value) != nil {
			return &DamageError{File: dbName, What: "a note of an import cannot be decoded"}
		}
		return nil
	})
	return ok, err
}

// NotesFrom returns the names of at most n committed notes with a prefix that sort after the name after, in
// order.
func (a *Archive) NotesFrom(prefix, after string, n int) (names []string, err error) {
	err = a.view(func(tx *bbolt.Tx) error {
		notes := tx.Bucket(bucketImports)
		if notes == nil {
			return nil
		}
		c := notes.Cursor()
		for k, _ := c.Seek([]byte(max(prefix, after))); bytes.HasPrefix(k, []byte(prefix)) &&
			len(names) < n; k, _ = c.Next() {
			if string(k) != after {
				names = append(names, string(k))
			}
		}
		return nil
	})
	return names, err
}
