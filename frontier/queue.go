package frontier

import (
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"curtsy/frontier/judge"
	"curtsy/internal/weburl"
)

// position is the place of an entry: its block and the index in it.
type position struct {
	queueKey
	first uint64 // id of the block's first entry
	index int
}

func (p position) key() []byte { return blockKey(p.queueKey, p.first) }

// entry returns the entry at a position, where this link is stored.
func (p position) entry(l Link) *Entry {
	l.Class = p.class.OfLink()
	return &Entry{ID: p.first + uint64(p.index), Link: l, at: p}
}

// idKey encodes a number so that keys sort like numbers.
func idKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

func blockKey(q queueKey, first uint64) []byte {
	b := make([]byte, 0, 13)
	b = binary.BigEndian.AppendUint32(b, q.host)
	b = append(b, byte(q.class))
	return binary.BigEndian.AppendUint64(b, first)
}

// parseBlockKey panics with ErrCorrupt if the key is not one of a block.
func parseBlockKey(k []byte) (queueKey, uint64) {
	if len(k) != 13 {
		panic(ErrCorrupt)
	}
	return queueKey{binary.BigEndian.Uint32(k), Class(k[4])}, binary.BigEndian.Uint64(k[5:])
}

// queue is the state of the queue of one class of one host.
type queue struct {
	next    position // the next entry to be handed out
	mark    position // the first unfinished entry, where a restart begins
	waiting int      // committed entries from next on
	block   []Link   // the decoded block that next points into
	out     []outstanding
	dirty   bool
}

// outstanding is an entry that was handed out; queue.out is in this order.
type outstanding struct {
	at      position
	settled bool
}

// settle records that the entry at p need not be handed out again.
func (q *queue) settle(p position) {
	for i := range q.out {
		if q.out[i].at == p {
			q.out[i].settled = true
			break
		}
	}
	q.advance()
}

// advance moves the mark past settled entries.
func (q *queue) advance() {
	q.dirty = true
	for len(q.out) > 0 && q.out[0].settled {
		q.out = q.out[1:]
	}
	q.mark = q.next
	if len(q.out) > 0 {
		q.mark = q.out[0].at
	}
}

// remaining returns how many entries a restart finds from the mark on.
func (q *queue) remaining() int { return q.waiting + len(q.out) }

// Waiting says when an entry of an origin can be handed out.
type Waiting struct {
	Due  time.Time  // zero for now
	URL  weburl.URL // the first postponed URL, if Due is not zero
	More int        // number of further postponed URLs
}

// Waiting reports whether any entry of the origin is left to hand out, now or later.
func (f *Frontier) Waiting(origin string) (w Waiting, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	host, known := f.hosts.index[origin]
	if !known {
		return w, false
	}
	if f.hasQueued(host, judge.Served[:]...) {
		return w, true
	}
	if f.retries[host] == 0 {
		return w, false
	}
	e, visited, _ := f.firstRetry(host, func([]byte) bool { return true })
	if e == nil {
		return w, false
	}
	return Waiting{Due: retryDue(e.retry), URL: e.URL, More: f.retries[host] - 1 - visited}, true
}

// Origins lists the origins with queued entries.
func (f *Frontier) Origins() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	left := map[uint32]bool{}
	for k, q := range f.queues {
		if q.waiting > 0 {
			left[k.host] = true
		}
	}
	for h, n := range f.retries {
		if n > 0 {
			left[h] = true
		}
	}
	var origins []string
	for i, name := range f.hosts.list {
		if left[uint32(i)] {
			origins = append(origins, name)
		}
	}
	return origins
}

// WaitAtMost sets the longest postponement. An entry that seems to wait longer was postponed before the
// clock was set back, and is due.
func (f *Frontier) WaitAtMost(d time.Duration) { f.longest = d }

// isDue reports whether the retry with the key k is due.
func (f *Frontier) isDue(k []byte, now time.Time) bool {
	wait := retryDue(k).Sub(now)
	return wait <= 0 || f.longest > 0 && wait > f.longest
}

// Next hands out the origin's next entry: a retry that is due, else the first of the classes in the order
// of judge.Served; nil if there is none. The caller must pass it to Finish or Retry.
func (f *Frontier) Next(origin string, now time.Time) (*Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	host, ok := f.hosts.index[origin]
	if !ok {
		return nil, nil
	}
	if f.retries[host] > 0 {
		e, _, err := f.firstRetry(host, func(k []byte) bool { return f.isDue(k, now) })
		if err != nil {
			return nil, err
		}
		if e != nil {
			f.inFlight[e.ID] = e
			return e, nil
		}
	}
	for _, c := range judge.Served {
		q := f.queues[queueKey{host, c}]
		if q == nil {
			continue
		}
		for q.waiting > 0 {
			e, err := f.take(q)
			if e != nil || err != nil {
				return e, err
			}
		}
	}
	return nil, nil
}

// Urgent reports whether entries are queued at an origin that come before pages: robots.txt, sitemaps and
// requisites of fetched pages.
func (f *Frontier) Urgent(origin string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	host, ok := f.hosts.index[origin]
	return ok && f.hasQueued(host, Prerequisite, Sitemap, Requisite)
}

// hasQueued reports whether entries of some classes wait at a host, without retries.
func (f *Frontier) hasQueued(host uint32, classes ...Class) bool {
	return slices.ContainsFunc(classes, func(c Class) bool {
		q := f.queues[queueKey{host, c}]
		return q != nil && q.waiting > 0
	})
}

// take hands out the entry at q.next, or nil if it is already finished or postponed: after a restart some
// entries behind the mark are, and so is a robots.txt that was fetched before its turn.
func (f *Frontier) take(q *queue) (*Entry, error) {
	if q.next.index >= len(q.block) {
		if err := f.loadBlock(q); err != nil {
			return nil, err
		}
	}
	e := q.next.entry(q.block[q.next.index])
	q.next.index++
	q.waiting--
	if (e.ID < f.opened || e.Class == Prerequisite) && (f.putOff[e.ID] || f.isFinished(e.ID)) {
		q.out = append(q.out, outstanding{at: e.at, settled: true})
		q.advance()
		return nil, nil
	}
	q.out = append(q.out, outstanding{at: e.at})
	f.inFlight[e.ID] = e
	return e, nil
}

// loadBlock reads the block at q.next, or the one after it.
func (f *Frontier) loadBlock(q *queue) error {
	return f.read(func(top *bbolt.Bucket) error {
		for k, v := range blocksFrom(top.Bucket(bucketBlocks).Cursor(), q.next.queueKey, q.next.first) {
			links, err := f.decodeBlock(k, v)
			if err != nil {
				return err
			}
			if _, first := parseBlockKey(k); first > q.next.first {
				q.next.first, q.next.index = first, 0
			}
			if q.next.index < len(links) {
				q.block = links
				return nil
			}
		}
		return ErrCorrupt
	})
}

// firstRetry returns the first retry of a host that is not in flight, as long as wanted accepts the keys;
// nil if there is none. visited is the number of those in flight before it.
func (f *Frontier) firstRetry(host uint32, wanted func(k []byte) bool) (e *Entry, visited int, err error) {
	err = f.read(func(top *bbolt.Bucket) (err error) {
		for k, v := range retriesOf(top.Bucket(bucketRetries).Cursor(), host) {
			if !wanted(k) {
				break
			}
			r := retryEntry(k, v)
			if f.inFlight[r.ID] != nil {
				visited++
				continue
			}
			at := r.at.key()
			r.Link, err = f.decodeOne(at, top.Bucket(bucketBlocks).Get(at), r.at.index)
			e, r.Class = r, r.at.class.OfLink()
			return err
		}
		return nil
	})
	return e, visited, err
}

// A retry key is host, due time and id; the value is the block's class and first id, and the attempts.

func retryKey(host uint32, due time.Time, id uint64) []byte {
	b := binary.BigEndian.AppendUint32(nil, host)
	b = binary.BigEndian.AppendUint64(b, uint64(due.UnixNano()))
	return binary.BigEndian.AppendUint64(b, id)
}

func retryDue(k []byte) time.Time { return time.Unix(0, int64(binary.BigEndian.Uint64(k[4:]))) }

func retryValue(e *Entry) []byte {
	b := append([]byte(nil), byte(e.at.class))
	b = binary.BigEndian.AppendUint64(b, e.at.first)
	return binary.AppendUvarint(b, uint64(e.Attempts))
}

func retryEntry(k, v []byte) *Entry {
	id := binary.BigEndian.Uint64(k[12:])
	first := binary.BigEndian.Uint64(v[1:])
	at := position{queueKey{binary.BigEndian.Uint32(k), Class(v[0])}, first, int(id - first)}
	attempts, _ := binary.Uvarint(v[9:])
	return &Entry{ID: id, Attempts: int(attempts), at: at, retry: append([]byte(nil), k...)}
}

// retriesOf iterates over the retries of a host in order of due time.
func retriesOf(c *bbolt.Cursor, host uint32) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		for k, v := c.Seek(binary.BigEndian.AppendUint32(nil, host)); k != nil; k, v = c.Next() {
			if len(k) != 20 || len(v) < 10 {
				panic(ErrCorrupt) // the keys are not those of retries
			}
			if binary.BigEndian.Uint32(k) != host || !yield(k, v) {
				return
			}
		}
	}
}
