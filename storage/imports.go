package storage

import (
	"bytes"
	"encoding/json"

	"go.etcd.io/bbolt"

	"curtsy/internal/sum"
)

// Note makes what an import has to remember part of the group, under a name; a nil
// value takes the note back.
func (a *Archive) Note(name string, value any) error {
	var b []byte
	if value != nil {
		var err error
		if b, err = json.Marshal(value); err != nil {
			return err
		}
	}
	a.pend.notes[name] = b
	return nil
}

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
		if value == nil {
			err = notes.Delete(key)
		} else {
			err = notes.Put(key, sum.Seal(key, value))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Noted reads a committed note into value; false if there is none.
func (a *Archive) Noted(name string, value any) (ok bool, err error) {
	err = a.view(func(tx *bbolt.Tx) error {
		notes := tx.Bucket(bucketImports)
		if notes == nil {
			return nil
		}
		b := notes.Get([]byte(name))
		if b == nil {
			return nil
		}
		ok = true
		return readNote([]byte(name), b, value)
	})
	return ok, err
}

// NotesFrom gives the names of committed notes that begin with a prefix, in order, as many
// as are wanted, behind the one named after.
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

func readNote(key, sealed []byte, value any) error {
	b, ok := sum.Open(key, sealed)
	if !ok || json.Unmarshal(b, value) != nil {
		return &DamageError{File: dbName, What: "a note of an import cannot be decoded"}
	}
	return nil
}
