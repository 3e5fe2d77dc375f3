package storage

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/internal/room"
	"curtsy/storage/crawllog"
	"curtsy/storage/warc"
)

// pending is the group of visits that is not committed yet.
type pending struct {
	mu      sync.Mutex
	digests map[string]*crawllog.Visit // by payload digest
	infoID  string
	visits  []*crawllog.Visit
	robots  []robotsPut
	closed  []*segment // full segments of this group, not yet synced and committed
	facts   []fact
	notes   map[string]any // notes of an import; nil deletes a note
}

// InfoID returns the id of the warcinfo record to which new records must refer; "" before the first
// segment. It is safe for concurrent use.
func (a *Archive) InfoID() string {
	a.pend.mu.Lock()
	defer a.pend.mu.Unlock()
	return a.pend.infoID
}

// Original returns the visit that holds the payload with this digest, so that it is not stored twice; nil
// if there is none. It is safe for concurrent use, but only the committer gets a final answer.
func (a *Archive) Original(digest string) (v *crawllog.Visit, err error) {
	key := digestKey(digest)
	if key == nil {
		return nil, nil
	}
	a.pend.mu.Lock()
	v = a.pend.digests[digest]
	a.pend.mu.Unlock()
	if v != nil {
		return v, nil
	}
	defer Guard(&err)()
	_ = a.view(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketDigests).Get(key)
		if len(b) != crawllog.RefSize {
			return nil
		}
		v, err = getVisit(tx, crawllog.RefOf(b))
		return nil
	})
	return v, err
}

// digestKey returns the key of a payload in bucketDigests; nil if the digest is not a SHA-256.
func digestKey(digest string) []byte {
	d, ok := warc.ParseDigest(digest)
	if !ok {
		return nil
	}
	return d[:]
}

// Append adds a visit and the records that encode writes to the group. infoID is the id of their warcinfo
// record. It sets v.Record to their location. If encode fails, the error is an ErrEncode and the group is
// unchanged; any other error drops the group. With a nil encode, it adds only the visit, with its
// present v.Record if any, and returns no error.
func (a *Archive) Append(v *crawllog.Visit, encode func(w io.Writer, infoID string) error) error {
	if encode == nil {
		a.add(v)
		return nil
	}
	if err := a.room(v.At); err != nil {
		return a.abandon(err)
	}
	s, offset := a.seg, a.seg.size
	err := encode(s, s.infoID)
	if s.err == nil && err != nil {
		return a.unmade(err, offset)
	}
	a.opts.Fail("appended")
	if s.err == nil && len(s.buf) >= flushSize {
		_ = s.flush() // the error is in s.err
	}
	if s.err != nil {
		return a.abandon(s.err)
	}
	a.synced = false
	if v.Record != nil {
		v.Record.Segment, v.Record.Offset, v.Record.Length = s.name, offset, s.size-offset
	}
	a.add(v)
	return nil
}

// ErrEncode reports that the records of a visit could not be encoded. The group and its segment are
// unchanged.
var ErrEncode = errors.New("its records cannot be made")

// unmade removes what was written of a visit. An error of the system is not the visit's fault and drops
// the group.
func (a *Archive) unmade(err error, offset int64) error {
	if IsDisk(err) {
		return a.abandon(err)
	}
	if err := a.seg.back(offset); err != nil {
		return a.abandon(err)
	}
	return fmt.Errorf("%w: %w", ErrEncode, err)
}

// room makes sure that there is a segment with room, beginning a new one if necessary.
func (a *Archive) room(now time.Time) error {
	if a.failed != nil {
		return a.failed
	}
	if a.seg != nil && a.seg.size < a.opts.SegmentSize {
		return nil
	}
	full := a.seg
	if err := a.begin(now); err != nil {
		return err
	}
	if full != nil {
		a.pend.closed = append(a.pend.closed, full)
	}
	a.pend.mu.Lock()
	a.pend.infoID = a.seg.infoID
	a.pend.mu.Unlock()
	return nil
}

// add adds a visit to the group.
func (a *Archive) add(v *crawllog.Visit) {
	a.pend.visits = append(a.pend.visits, v)
	if v.Kept != crawllog.KeptResponse || v.Length == 0 {
		return
	}
	d := v.Digest
	if digestKey(d) == nil {
		return
	}
	a.pend.mu.Lock()
	defer a.pend.mu.Unlock()
	a.pend.digests[d] = cmp.Or(a.pend.digests[d], v)
}

// Amend changes the entry of a visit, of this group or an earlier one; its records are not changed. The
// change is part of the group.
func (a *Archive) Amend(r crawllog.Ref, change func(*crawllog.Visit)) error {
	for _, v := range a.pend.visits {
		if v.Ref() == r {
			change(v)
			return nil
		}
	}
	v, err := a.Visit(r)
	if err != nil || v == nil {
		return err
	}
	change(v)
	a.pend.visits = append(a.pend.visits, v)
	return nil
}

// Sync makes the records of the group durable, before the transaction that refers to them. On error the
// group is dropped, and the archive is as after the last commit.
func (a *Archive) Sync() error {
	if a.failed != nil || a.synced {
		return a.failed
	}
	if err := room.Check(a.dir.path, a.opts.MinFree); err != nil {
		return a.abandon(err)
	}
	if err := a.syncSegments(); err != nil {
		return a.abandon(err)
	}
	a.opts.Fail("synced")
	a.synced = true
	return nil
}

// Commit makes the group durable: first its records, then one transaction that refers to them. The
// transaction includes what the frontier has staged, and crawl, the state of the crawl, unless that is
// nil. On error the group is dropped, and the archive is as after the last commit (but see doubt).
func (a *Archive) Commit(crawl any) error {
	if err := a.Sync(); err != nil {
		return err
	}
	err := a.update(func(tx *bbolt.Tx) error {
		if err := a.putFrontier(tx); err != nil { // first: it assigns the ids of new URLs, which OnPlaced is told
			return err
		}
		if err := a.put(tx); err != nil {
			return err
		}
		if err := putCrawl(tx, crawl); err != nil {
			return err
		}
		a.opts.Fail("before-commit")
		return nil
	})
	if err != nil {
		return a.doubt(err)
	}
	a.opts.Fail("committed")
	a.afterCommit()
	if a.urls != nil {
		a.urls.Publish()
	}
	return nil
}

func (a *Archive) syncSegments() error {
	for _, s := range a.pend.closed {
		if err := s.sync(); err != nil {
			return err
		}
	}
	if a.seg == nil || a.seg.size == a.seg.durable {
		return nil
	}
	return a.seg.sync()
}

// put writes the group's entries.
func (a *Archive) put(tx *bbolt.Tx) error {
	visits, digests := tx.Bucket(bucketVisits), tx.Bucket(bucketDigests)
	visits.FillPercent = 0.9
	for _, v := range a.pend.visits {
		if err := putVisit(visits, v); err != nil {
			return err
		}
	}
	for d, v := range a.pend.digests {
		if err := digests.Put(digestKey(d), v.Ref().Key()); err != nil {
			return err
		}
	}
	for _, s := range append(a.pend.closed, a.seg) {
		if s == nil {
			continue
		}
		if err := putSegment(tx, s.name, segmentEntry{Size: s.size, InfoID: s.infoID}); err != nil {
			return err
		}
	}
	if err := a.putNotes(tx); err != nil {
		return err
	}
	return a.putRobots(tx)
}

// afterCommit clears the group after its commit.
func (a *Archive) afterCommit() {
	for _, s := range a.pend.closed {
		s.file.Close()
	}
	if a.seg != nil {
		a.seg.durable = a.seg.size
	}
	a.keepFacts(a.pend.facts...)
	a.clear()
	a.grow()
}

// abandon drops a group that could not be written, and truncates the segments.
func (a *Archive) abandon(err error) error {
	for _, s := range a.pend.closed {
		s.cut()
		s.file.Close()
	}
	if a.seg != nil {
		a.seg.cut()
		if a.seg.durable == 0 {
			a.seg.file.Close()
			err := a.dir.remove(segmentFile(a.seg.name))
			a.opts.Logger.Debug("removed", "segment", a.seg.name, "err",
				errors.Join(err, a.dir.sync(segmentFile(a.seg.name))))
			a.seg = nil
		}
	}
	a.clear()
	return refused(err)
}

// doubt drops a group whose transaction failed. It may have been committed nevertheless: when the last sync
// fails, its pages may have been written. So nothing is truncated and nothing more is written; the next
// Open sees whether it was committed and truncates accordingly.
func (a *Archive) doubt(err error) error {
	a.failed = refused(err)
	for _, s := range append(a.pend.closed, a.seg) {
		if s != nil {
			s.file.Close()
		}
	}
	a.seg = nil
	a.clear()
	return a.failed
}

func (a *Archive) clear() {
	a.pend.mu.Lock()
	defer a.pend.mu.Unlock()
	a.synced = false
	clear(a.pend.digests)
	clear(a.pend.facts)
	clear(a.pend.notes)
	a.pend.visits, a.pend.robots, a.pend.closed, a.pend.facts = a.pend.visits[:0], nil, nil, a.pend.facts[:0]
	if a.seg == nil {
		a.pend.infoID = ""
	}
}
