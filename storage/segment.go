package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/storage/warc"
)

// segmentEntry is what crawl.db knows of a segment.
type segmentEntry struct {
	Size   int64  `json:"size"` // committed octets
	InfoID string `json:"info_id"`
	// Check guards what Open cuts segments by: a size that was overwritten
	// must not cost what is kept.
	Check uint32 `json:"check"`
}

// check is the sum of an entry and its name.
func (e segmentEntry) check(name string) uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%s %d %s", name, e.Size, e.InfoID))
}

// putSegment names a segment and how much of it is committed.
func putSegment(tx *bbolt.Tx, name string, e segmentEntry) error {
	e.Check = e.check(name)
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return tx.Bucket(bucketSegments).Put([]byte(name), b)
}

// segments are those that crawl.db knows, by name.
func (a *Archive) segments() (known map[string]segmentEntry, err error) {
	defer Guard(&err)()
	known = map[string]segmentEntry{}
	err = a.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketSegments).ForEach(func(k, v []byte) error {
			var e segmentEntry
			if err := json.Unmarshal(v, &e); err != nil || e.Check != e.check(string(k)) {
				return &DamageError{File: filepath.Join(a.dir, dbName), What: "a segment's entry does not read back"}
			}
			known[string(k)] = e
			return nil
		})
	})
	return known, err
}

// segment is the WARC file that is written.
type segment struct {
	name    string
	infoID  string
	file    *os.File
	buf     []byte // whole records not yet handed to the system
	size    int64  // octets written, buffered ones included
	durable int64  // octets that a committed transaction names
}

// recover makes the segments what crawl.db says they are: longer ones are
// cut, unknown ones, begun and never committed, removed. A shorter one is
// damage, which verify tells more about.
func (a *Archive) recover() (err error) {
	defer Guard(&err)()
	known, err := a.segments()
	if err != nil {
		return err
	}
	// Nothing is cut or removed before all that was committed is seen to be there,
	// and no more than what a kill leaves.
	if err := a.present(known); err != nil {
		return err
	}
	files, err := segmentFiles(a.dir)
	if err != nil {
		return err
	}
	if err := a.newest(known); err != nil {
		return err
	}
	for _, path := range files {
		if err := a.trim(path, known); err != nil {
			return err
		}
	}
	last := ""
	for name := range known {
		last = max(last, name)
	}
	if last == "" || known[last].Size >= a.opts.SegmentSize || !a.says(last) {
		return nil
	}
	return a.reopen(last, known[last])
}

// segmentFiles lists the segments that lie in an archive, known or not. Unlike
// filepath.Glob it does not take a directory that cannot be read for an empty
// one.
func segmentFiles(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, warcDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".warc.gz") {
			paths = append(paths, filepath.Join(dir, warcDir, e.Name()))
		}
	}
	return paths, nil
}

func (a *Archive) trim(path string, known map[string]segmentEntry) error {
	name := filepath.Base(path)
	e, ok := known[name]
	if !ok {
		if !strings.HasPrefix(name, a.opts.Prefix+"-") {
			return nil // not ours
		}
		return a.dropUnknown(path, known)
	}
	st, err := os.Stat(path)
	if err != nil || st.Size() == e.Size {
		return err
	}
	a.opts.Logger.Info("cut what was in flight", "segment", name, "bytes", st.Size()-e.Size)
	if err := os.Truncate(path, e.Size); err != nil {
		return err
	}
	return syncFile(path)
}

// MaxGroup is the most visits that may be written or wait to be while no Commit
// names them, and so the most that a kill leaves in segments that crawl.db does
// not know.
const MaxGroup = 128

// dropUnknown removes a segment that crawl.db does not know. One that holds
// more than a kill leaves behind, as when crawl.db is an older one put back
// from a backup, is set aside; but for a copy that a killed repair left.
func (a *Archive) dropUnknown(path string, known map[string]segmentEntry) error {
	name := filepath.Base(path)
	for other := range known {
		if stem(other) == stem(name) {
			return os.Remove(path)
		}
	}
	visits, err := capturesFrom(a.dir, name, 0, "", MaxGroup)
	if err != nil {
		return err
	}
	if visits <= MaxGroup {
		return os.Remove(path)
	}
	to, err := setAside(path, asideUnknown)
	a.opts.Logger.Warn("a segment holds more than a killed crawl leaves, and crawl.db does not know it: is crawl.db an older one? it is kept",
		"segment", name, "as", filepath.Base(to), "err", err)
	return err
}

// present says whether all committed octets are there.
func (a *Archive) present(known map[string]segmentEntry) error {
	for name, e := range known {
		file := filepath.Join(warcDir, name)
		st, err := os.Stat(filepath.Join(a.dir, file))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &DamageError{File: file, What: "missing"}
		case err != nil:
			return err
		case st.Size() < e.Size:
			return &DamageError{File: file, What: fmt.Sprintf("%d bytes, %d were committed", st.Size(), e.Size)}
		}
	}
	return a.db.View(func(tx *bbolt.Tx) error {
		if k, _ := tx.Bucket(bucketDigests).Cursor().First(); k != nil && len(known) == 0 {
			return &DamageError{File: filepath.Join(a.dir, dbName), What: "it knows payloads, but no segment"}
		}
		return nil
	})
}

// newest refuses a crawl.db that is older than its segments, as one put back
// from a backup: what lies behind the last commit that it knows would be cut
// off, and is more than what a kill leaves.
func (a *Archive) newest(known map[string]segmentEntry) error {
	for name, e := range known {
		st, err := os.Stat(filepath.Join(a.dir, warcDir, name))
		if err != nil || st.Size() <= e.Size {
			continue // damage of another kind, if any
		}
		visits, err := capturesFrom(a.dir, name, e.Size, e.InfoID, MaxGroup)
		if err != nil {
			return err
		}
		if visits > MaxGroup {
			return &DamageError{File: filepath.Join(a.dir, dbName), What: "it is older than " + name + ", which holds visits that it does not know; it can be rebuilt from the segments"}
		}
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

func (a *Archive) reopen(name string, e segmentEntry) error {
	f, err := os.OpenFile(filepath.Join(a.dir, warcDir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.Seek(e.Size, io.SeekStart); err != nil {
		f.Close()
		return err
	}
	a.seg = &segment{name: name, infoID: e.InfoID, file: f,
		size: e.Size, durable: e.Size}
	a.pend.infoID = e.InfoID
	return nil
}

// begin makes a new segment that starts with its warcinfo record. The
// directory is synced, so that the file's name is as durable as its octets.
func (a *Archive) begin(now time.Time) error {
	n := 0
	if err := a.db.View(func(tx *bbolt.Tx) error {
		n = tx.Bucket(bucketSegments).Stats().KeyN
		return nil
	}); err != nil {
		return err
	}
	dir := filepath.Join(a.dir, warcDir)
	if a.seg != nil {
		n++ // begun and not yet committed
	}
	var f *os.File
	var name string
	for {
		name = fmt.Sprintf("%s-%s-%05d.warc.gz", a.opts.Prefix, now.UTC().Format("20060102150405"), n)
		var err error
		f, err = os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			break
		}
		if !os.IsExist(err) {
			return &DiskError{err}
		}
		n++
	}
	s := &segment{name: name, infoID: warc.NewID(), file: f}
	info := a.info()
	if _, err := s.Write(info.record(name, s.infoID, now)); err != nil {
		f.Close()
		return &DiskError{err}
	}
	if err := syncDir(dir); err != nil {
		f.Close()
		return &DiskError{err}
	}
	a.seg = s
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// flushSize is how much a segment holds back: whole records are handed to
// the system in one write, so that even between a kill and the next Open a
// segment hardly ever ends within a record.
const flushSize = 1 << 20

// Write appends to the segment.
func (s *segment) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	s.size += int64(len(p))
	if len(s.buf) < 4*flushSize {
		return len(p), nil
	}
	return len(p), s.flush()
}

func (s *segment) flush() error {
	_, err := s.file.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

func (s *segment) sync() error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.file.Sync()
}

// cut takes the segment back to its last durable octet.
func (s *segment) cut() {
	s.buf = s.buf[:0]
	_ = s.file.Truncate(s.durable) // Open does it again if this fails
	_, _ = s.file.Seek(s.durable, io.SeekStart)
	s.size = s.durable
}
