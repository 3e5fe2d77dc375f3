package storage

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/storage/warc"
)

// segmentEntry is the entry of a segment in crawl.db.
type segmentEntry struct {
	Size   int64  `json:"size"` // committed octets
	InfoID string `json:"info_id"`
	// Check is a checksum. Open truncates segments to Size, so a damaged Size would destroy
	// records.
	Check uint32 `json:"check"`
}

// check returns the checksum of an entry with its name.
func (e segmentEntry) check(name string) uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%s %d %s", name, e.Size, e.InfoID))
}

// putSegment stores the entry of a segment.
func putSegment(tx *bbolt.Tx, name string, e segmentEntry) error {
	e.Check = e.check(name)
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return tx.Bucket(bucketSegments).Put([]byte(name), b)
}

func putSegments(tx *bbolt.Tx, entries map[string]segmentEntry) error {
	for name, e := range entries {
		if err := putSegment(tx, name, e); err != nil {
			return err
		}
	}
	return nil
}

// segments returns the segments that crawl.db knows, by name.
func (a *Archive) segments() (known map[string]segmentEntry, err error) {
	defer Guard(&err)()
	known = map[string]segmentEntry{}
	err = a.view(func(tx *bbolt.Tx) error {
		return a.segmentsIn(tx, known)
	})
	return known, err
}

func (a *Archive) segmentsIn(tx *bbolt.Tx, known map[string]segmentEntry) error {
	return tx.Bucket(bucketSegments).ForEach(func(k, v []byte) error {
		var e segmentEntry
		if err := json.Unmarshal(v, &e); err != nil || e.Check != e.check(string(k)) ||
			!isSegment(string(k)) || e.Size < 0 {
			return &DamageError{File: a.dir.file(dbName), What: "a segment's entry cannot be decoded"}
		}
		known[string(k)] = e
		return nil
	})
}

// segment is the WARC file being written.
type segment struct {
	name    string
	infoID  string
	file    *os.File
	buf     []byte // complete records not yet passed to the system
	size    int64  // octets written, including buffered ones
	durable int64  // octets that a committed transaction includes
	err     error  // first write error; cleared by cut
}

// recover makes the segments agree with crawl.db: it truncates longer ones and removes unknown ones that were
// begun and never committed. A shorter one is damage, which Verify describes.
func (a *Archive) recover() (err error) {
	defer Guard(&err)()
	known, err := a.segments()
	if err != nil {
		return err
	}
	if a.opts.Mend {
		return a.newest(known)
	}
	// Before anything is truncated or removed, all committed data must be present, and the rest must be no more
	// than a kill can leave.
	if err := a.present(known); err != nil {
		return err
	}
	files, err := a.dir.segmentNames()
	if err != nil {
		return err
	}
	if err := a.newest(known); err != nil {
		return err
	}
	for _, name := range files {
		if err := a.trim(name, known); err != nil {
			return err
		}
	}
	a.dropFacts(known)
	last := ""
	for name := range known {
		if strings.HasPrefix(name, a.opts.Prefix+"-") { // others are another owner's, and not continued
			last = max(last, name)
		}
	}
	if last == "" || known[last].Size >= a.opts.SegmentSize || !a.says(last) {
		return nil
	}
	return a.reopen(last, known[last])
}

func (a *Archive) trim(name string, known map[string]segmentEntry) error {
	e, ok := known[name]
	if !ok {
		return a.dropUnknown(name, known)
	}
	f, err := a.dir.openFile(segmentFile(name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() == e.Size {
		return err
	}
	a.opts.Logger.Info("cut what was in flight", "segment", name, "bytes", st.Size()-e.Size)
	if err := f.Truncate(e.Size); err != nil {
		return err
	}
	return f.Sync()
}

// MaxGroup is the maximum number of visits that may be written or waiting without being committed, and
// therefore the most that a kill leaves in segments beyond what crawl.db knows.
const MaxGroup = 128

// dropUnknown removes a segment that crawl.db does not know if a kill left it: one that this archive began
// and did not commit, or the copy made by a repair. Any other may contain what exists nowhere else, for
// example if crawl.db was restored from an old backup or the segment is from another crawl; it is set
// aside.
func (a *Archive) dropUnknown(name string, known map[string]segmentEntry) error {
	if !strings.HasPrefix(name, a.opts.Prefix+"-") {
		return nil // another owner's
	}
	ours, err := a.isLeftover(name, known)
	if err != nil {
		return err
	}
	if ours {
		return a.dir.remove(segmentFile(name))
	}
	to, err := a.dir.setAside(segmentFile(name), asideUnknown)
	a.opts.Logger.Warn("a segment unknown to crawl.db holds more than a killed crawl leaves behind; it is kept "+
		"(is crawl.db an older copy?)",
		"segment", name, "as", to, "err", err)
	return err
}

// isLeftover reports whether a kill can have left an unknown segment.
func (a *Archive) isLeftover(name string, known map[string]segmentEntry) (bool, error) {
	st, err := a.dir.stat(segmentFile(name))
	if err != nil || st.Size() == 0 {
		return err == nil, err
	}
	info := a.dir.readInfo(name)
	for other, e := range known {
		if stem(other) == stem(name) && info.id == e.InfoID {
			return true, nil
		}
	}
	if info.archive != a.id() {
		return false, nil
	}
	more, err := a.dir.holdsMore(name, 0, "")
	return !more, err
}

// present returns an error if committed data is missing.
func (a *Archive) present(known map[string]segmentEntry) error {
	for name, e := range known {
		file := segmentFile(name)
		st, err := a.dir.stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &DamageError{File: file, What: "missing"}
		case err != nil:
			return err
		case st.Size() < e.Size:
			return &DamageError{File: file, What: fmt.Sprintf("%d bytes, %d were committed", st.Size(), e.Size)}
		}
	}
	return a.view(func(tx *bbolt.Tx) error {
		if k, _ := tx.Bucket(bucketDigests).Cursor().First(); k != nil && len(known) == 0 {
			return &DamageError{File: a.dir.file(dbName), What: "it lists payloads, but no segment"}
		}
		return nil
	})
}

// newest returns an error if crawl.db is older than its segments, for example restored from a backup: data
// beyond its last commit would be truncated that is more than a kill can leave.
func (a *Archive) newest(known map[string]segmentEntry) error {
	for name, e := range known {
		st, err := a.dir.stat(segmentFile(name))
		if err != nil || st.Size() <= e.Size {
			continue // another kind of damage, if any
		}
		more, err := a.dir.holdsMore(name, e.Size, e.InfoID)
		if err != nil {
			return err
		}
		if more {
			return &DamageError{File: a.dir.file(dbName), What: "it is older than " + name +
				", which holds visits missing from it; it can be rebuilt from the segments"}
		}
	}
	return nil
}

func (a *Archive) reopen(name string, e segmentEntry) error {
	f, err := a.dir.openFile(segmentFile(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.Seek(e.Size, io.SeekStart); err != nil {
		f.Close()
		return err
	}
	a.seg = &segment{name: name, infoID: e.InfoID, file: f, size: e.Size, durable: e.Size}
	a.pend.infoID = e.InfoID
	return nil
}

// begin creates a new segment with its warcinfo record. The directory is synced, so that the file's name is
// durable.
func (a *Archive) begin(now time.Time) error {
	known, err := a.segments()
	if err != nil {
		return err
	}
	n, last := len(known), ""
	for name := range known {
		last = max(last, age(name))
	}
	if a.seg != nil { // it may not be committed yet
		n, last = n+1, max(last, age(a.seg.name))
	}
	stamp, n := following(last, now, n)
	var f *os.File
	var name string
	for {
		name = fmt.Sprintf("%s-%s-%05d.warc.gz", a.opts.Prefix, stamp, n)
		var err error
		f, err = a.dir.create(segmentFile(name), os.O_WRONLY, 0o644)
		if err == nil {
			break
		}
		if !os.IsExist(err) {
			return diskError(err)
		}
		n++
	}
	s := &segment{name: name, infoID: warc.NewID(), file: f}
	info := a.info()
	if _, err := s.Write(info.record(name, s.infoID, now)); err != nil {
		f.Close()
		return diskError(err)
	}
	if err := a.dir.sync(segmentFile(name)); err != nil {
		f.Close()
		return diskError(err)
	}
	a.seg = s
	return nil
}

// flushSize is how much a segment buffers. Complete records are written in one call, so that even after a
// kill a segment rarely ends within a record.
const flushSize = 1 << 20

// Write appends to the segment's buffer, which it flushes when it gets large.
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
	s.buf, s.err = s.buf[:0], cmp.Or(s.err, err)
	return err
}

func (s *segment) sync() error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.file.Sync()
}

// back truncates the segment to an earlier size since its last sync.
func (s *segment) back(size int64) error {
	behind := s.size - size
	s.size = size
	if behind <= int64(len(s.buf)) {
		s.buf = s.buf[:int64(len(s.buf))-behind]
		return nil
	}
	s.buf = s.buf[:0]
	if err := s.file.Truncate(size); err != nil {
		return err
	}
	_, err := s.file.Seek(size, io.SeekStart)
	return err
}

// cut truncates the segment to its committed size.
func (s *segment) cut() {
	s.buf, s.err = s.buf[:0], nil
	_ = s.file.Truncate(s.durable) // on failure the next Open does it
	_, _ = s.file.Seek(s.durable, io.SeekStart)
	s.size = s.durable
}
