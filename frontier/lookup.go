package frontier

import (
	"encoding/binary"
	"encoding/json"
	"slices"

	"go.etcd.io/bbolt"

	"curtsy/frontier/judge"
	"curtsy/internal/sum"
	"curtsy/internal/weburl"
)

// load reads what a restart needs: totals, names, fingerprints, positions.
func (f *Frontier) load(tx *bbolt.Tx) error {
	if err := f.loadTotals(tx); err != nil {
		return err
	}
	top := tx.Bucket(bucketTop)
	f.seen.grow(f.counts.Discovered)
	for _, part := range []struct {
		bucket []byte
		load   func(k, v []byte) error
	}{{bucketSeen, f.loadSeen}, {bucketLinked, f.loadLinked}, {bucketTally, f.loadTally}, {bucketQueues, f.loadQueue},
		{bucketRetries, f.loadRetry}} {
		if err := top.Bucket(part.bucket).ForEach(part.load); err != nil {
			return err
		}
	}
	return nil
}

// loadTotals reads what any use needs: totals and names.
func (f *Frontier) loadTotals(tx *bbolt.Tx) error {
	top, err := whole(tx)
	if err != nil {
		return err
	}
	if v := top.Get(keyCounts); v != nil {
		v, ok := sum.Open(keyCounts, v)
		if !ok || json.Unmarshal(v, &f.counts) != nil {
			return ErrCorrupt
		}
		f.nextID = f.counts.NextID
	}
	f.opened = f.nextID
	return f.loadNames(top)
}

// whole is the frontier's bucket, with all that belongs in it.
func whole(tx *bbolt.Tx) (*bbolt.Bucket, error) {
	top := tx.Bucket(bucketTop)
	if top == nil {
		return nil, ErrCorrupt
	}
	for _, name := range buckets {
		if top.Bucket(name) == nil {
			return nil, ErrCorrupt
		}
	}
	return top, nil
}

// isListed says whether a sitemap lists the URL with a fingerprint and no link
// has led to it.
func (f *Frontier) isListed(fp uint64) (listed bool) {
	_ = f.db.View(func(tx *bbolt.Tx) error {
		top := tx.Bucket(bucketTop)
		_ = top.Bucket(bucketSeen).ForEach(func(k, v []byte) error {
			for ; len(v) >= 8; v = v[8:] {
				known := binary.LittleEndian.Uint64(v)
				listed = listed || known&^flagBits == fp && known&listedBit != 0
			}
			return nil
		})
		return top.Bucket(bucketLinked).ForEach(func(k, v []byte) error {
			for ; len(v) >= 8; v = v[8:] {
				listed = listed && binary.LittleEndian.Uint64(v)&^flagBits != fp
			}
			return nil
		})
	})
	return listed
}

func (f *Frontier) loadSeen(k, v []byte) error {
	v, ok := sum.Open(k, v)
	if !ok {
		return ErrCorrupt
	}
	for ; len(v) >= 8; v = v[8:] {
		fp := binary.LittleEndian.Uint64(v)
		f.seen.add(fp&^flagBits, fp&softBit != 0)
		f.seen.set(fp&^flagBits, guessBit, fp&guessBit != 0)
		if fp&listedBit != 0 {
			f.seen.set(fp&^flagBits, listedBit, true)
		}
	}
	return nil
}

func (f *Frontier) loadLinked(k, v []byte) error {
	v, ok := sum.Open(k, v)
	if !ok {
		return ErrCorrupt
	}
	for ; len(v) >= 8; v = v[8:] {
		f.seen.set(binary.LittleEndian.Uint64(v), listedBit, false)
	}
	return nil
}

func (f *Frontier) loadTally(k, v []byte) error {
	n, size := binary.Uvarint(v)
	if len(k) != 8 || size <= 0 {
		return ErrCorrupt
	}
	f.tally.set(binary.BigEndian.Uint64(k), int(min(n, 1<<31)))
	return nil
}

func (f *Frontier) loadRetry(k, v []byte) error {
	v, ok := sum.Open(k, v)
	if !ok || len(k) != 20 || len(v) < 10 {
		return ErrCorrupt
	}
	f.retries[binary.BigEndian.Uint32(k)]++
	if e := retryEntry(k, v); e.ID >= f.markOf(e.at) {
		f.putOff[e.ID] = true
	}
	return nil
}

func (f *Frontier) loadQueue(k, v []byte) error {
	v, ok := sum.Open(k, v)
	if !ok || len(k) != 5 || len(v) < 10 || Class(k[4]) == Disregarded || Class(k[4]) >= judge.NumClasses {
		return ErrCorrupt
	}
	d := decoder{b: v[8:]}
	key := queueKey{binary.BigEndian.Uint32(k), Class(k[4])}
	at := position{host: key.host, class: key.class, first: binary.BigEndian.Uint64(v), index: int(d.uvarint())}
	f.queues[key] = &queue{key: key, next: at, mark: at, waiting: int(d.uvarint())}
	if d.bad {
		return ErrCorrupt
	}
	return nil
}

func (f *Frontier) isFinished(id uint64) bool {
	found := false
	_ = f.db.View(func(tx *bbolt.Tx) error {
		found = tx.Bucket(bucketTop).Bucket(bucketFinished).Get(binary.BigEndian.AppendUint64(nil, id)) != nil
		return nil
	})
	return found
}

// Found is what the frontier knows of one URL.
type Found struct {
	Entry
	State  State
	Reason judge.Reason
}

// look guards a look-up, within which another may be made where nothing is written.
func (f *Frontier) look() (done func()) {
	if f.isRead {
		f.mu.RLock()
		return f.mu.RUnlock
	}
	f.mu.Lock()
	return f.mu.Unlock
}

// Find lists every time that a URL was found and became an entry, oldest first. One that
// was disregarded for the page that linked it (nofollow) may come before the one that
// counts. Entries that are not committed yet are not found.
func (f *Frontier) Find(u weburl.URL) ([]Found, error) {
	defer f.look()()
	want := f.fingerprint(u.String())
	var found []Found
	err := f.db.View(func(tx *bbolt.Tx) error {
		top := tx.Bucket(bucketTop)
		ids := f.seen.index.find(top, len(f.hosts.list), want)
		slices.Sort(ids) // blocks lie by host and class, finds are told by age
		for _, id := range ids {
			// It is another's where the fingerprint is that of a twin.
			if e, ok := f.get(top, id); ok && e.URL == u {
				found = append(found, e)
			}
		}
		return nil
	})
	return found, err
}

// Get looks an id up.
func (f *Frontier) Get(id uint64) (Found, bool) {
	defer f.look()()
	var found Found
	var ok bool
	_ = f.db.View(func(tx *bbolt.Tx) error {
		top := tx.Bucket(bucketTop)
		found, ok = f.get(top, id)
		return nil
	})
	return found, ok
}

// Path is the way from the seed to the URL with the given id, that one last.
func (f *Frontier) Path(id uint64) []Found {
	defer f.look()()
	var path []Found
	_ = f.db.View(func(tx *bbolt.Tx) error {
		top := tx.Bucket(bucketTop)
		for id != 0 && len(path) < 1000 {
			e, ok := f.get(top, id)
			if !ok {
				return nil
			}
			path = append([]Found{e}, path...)
			id = e.Via
		}
		return nil
	})
	return path
}

// get finds an id: in each range of keys, the block that begins at or before it.
func (f *Frontier) get(top *bbolt.Bucket, id uint64) (Found, bool) {
	c := top.Bucket(bucketBlocks).Cursor()
	for host := range max(len(f.hosts.list), 1) {
		for class := Prerequisite; class < judge.NumClasses; class++ {
			key := queueKey{uint32(host), class}
			if class == Disregarded && host > 0 {
				continue
			}
			var k, v []byte
			if after, _ := c.Seek(blockKey(key, id+1)); after == nil {
				k, v = c.Last()
			} else {
				k, v = c.Prev()
			}
			if k == nil {
				continue
			}
			at, first := parseBlockKey(k)
			n, _ := binary.Uvarint(v)
			if at != key || id < first || id >= first+n {
				continue
			}
			e, err := f.entry(top, k, int(id-first))
			if err != nil {
				return Found{}, false
			}
			return f.judged(top, e), true
		}
	}
	return Found{}, false
}

func (f *Frontier) entry(top *bbolt.Bucket, key []byte, index int) (Entry, error) {
	l, err := f.decodeOne(key, top.Bucket(bucketBlocks).Get(key), index)
	if err != nil {
		return Entry{}, err
	}
	q, first := parseBlockKey(key)
	e := Entry{ID: first + uint64(index), Link: l}
	e.Class = q.class.OfLink()
	e.at = position{host: q.host, class: q.class, first: first, index: index}
	return e, nil
}

func (f *Frontier) judged(top *bbolt.Bucket, e Entry) Found {
	if e.Class == Disregarded {
		return Found{e, StateDisregarded, e.Reason}
	}
	v := top.Bucket(bucketFinished).Get(binary.BigEndian.AppendUint64(nil, e.ID))
	if len(v) < 2 {
		return Found{Entry: e}
	}
	if State(v[0]) > StateDisregarded {
		return Found{e, StateFailed, judge.Reason{Rule: judge.Unreadable}}
	}
	reason, _ := binary.Uvarint(v[1:])
	return Found{e, State(v[0]), f.reasons.text(uint32(reason))}
}

// Each calls visit for every URL of a class, in the order of discovery, but
// for disregarded ones that AddAgain let through.
func (f *Frontier) Each(class Class, visit func(Found) error) error {
	defer f.look()()
	return f.db.View(func(tx *bbolt.Tx) error {
		top := tx.Bucket(bucketTop)
		return top.Bucket(bucketBlocks).ForEach(func(k, v []byte) error {
			if q, _ := parseBlockKey(k); q.class.OfLink() != class {
				return nil
			}
			return f.eachOf(top, k, v, func(found Found) error {
				if class == Disregarded && top.Bucket(bucketFinished).Get(binary.BigEndian.AppendUint64(nil,
					found.ID)) != nil {
					return nil // superseded
				}
				return visit(found)
			})
		})
	})
}

// eachOf calls visit for every URL of a block.
func (f *Frontier) eachOf(top *bbolt.Bucket, k, v []byte, visit func(Found) error) error {
	q, first := parseBlockKey(k)
	links, err := f.decodeSealed(k, v)
	for i, l := range links {
		l.Class = q.class.OfLink()
		at := position{host: q.host, class: q.class, first: first, index: i}
		if err := visit(f.judged(top, Entry{ID: first + uint64(i), Link: l, at: at})); err != nil {
			return err
		}
	}
	return err
}

// Robots gives every robots.txt with what became of it. It reads only where
// they lie.
func (f *Frontier) Robots(visit func(Found)) error {
	defer f.look()()
	return f.db.View(func(tx *bbolt.Tx) error {
		top := tx.Bucket(bucketTop)
		c := top.Bucket(bucketBlocks).Cursor()
		for host := range f.hosts.list {
			key := queueKey{uint32(host), Prerequisite}
			for k, v := c.Seek(blockKey(key, 0)); k != nil; k, v = c.Next() {
				if q, _ := parseBlockKey(k); q != key {
					break
				}
				if err := f.eachOf(top, k, v, func(found Found) error { visit(found); return nil }); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
