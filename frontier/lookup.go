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
	}{{bucketSeen, f.loadSeen}, {bucketLinked, f.loadLinked}, {bucketQueues, f.loadQueue},
		{bucketRetries, f.loadRetry}} {
		if err := top.Bucket(part.bucket).ForEach(opened(part.load)); err != nil {
			return err
		}
	}
	return top.Bucket(bucketTally).ForEach(f.loadTally)
}

// opened is load for values with their sums.
func opened(load func(k, v []byte) error) func(k, sealed []byte) error {
	return func(k, sealed []byte) error {
		v, ok := sum.Open(k, sealed)
		if !ok {
			return ErrCorrupt
		}
		return load(k, v)
	}
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
	_ = f.read(func(top *bbolt.Bucket) error {
		_ = top.Bucket(bucketSeen).ForEach(func(_, v []byte) error {
			for known := range fingerprints(v) {
				listed = listed || known&^flagBits == fp && known&listedBit != 0
			}
			return nil
		})
		return top.Bucket(bucketLinked).ForEach(func(_, v []byte) error {
			for linked := range fingerprints(v) {
				listed = listed && linked&^flagBits != fp
			}
			return nil
		})
	})
	return listed
}

func (f *Frontier) loadSeen(_, v []byte) error {
	for fp := range fingerprints(v) {
		f.seen.add(fp&^flagBits, fp&softBit != 0)
		f.seen.set(fp&^flagBits, guessBit, fp&guessBit != 0)
		if fp&listedBit != 0 {
			f.seen.set(fp&^flagBits, listedBit, true)
		}
	}
	return nil
}

func (f *Frontier) loadLinked(_, v []byte) error {
	for fp := range fingerprints(v) {
		f.seen.set(fp, listedBit, false)
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
	if len(k) != 20 || len(v) < 10 {
		return ErrCorrupt
	}
	f.retries[binary.BigEndian.Uint32(k)]++
	if e := retryEntry(k, v); e.ID >= f.markOf(e.at) {
		f.putOff[e.ID] = true
	}
	return nil
}

func (f *Frontier) loadQueue(k, v []byte) error {
	if len(k) != 5 || len(v) < 10 || Class(k[4]) == Disregarded || Class(k[4]) >= judge.NumClasses {
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

// read gives what looks something up the frontier's bucket.
func (f *Frontier) read(look func(top *bbolt.Bucket) error) error {
	return f.view(func(tx *bbolt.Tx) error { return look(tx.Bucket(bucketTop)) })
}

func (f *Frontier) isFinished(id uint64) (found bool) {
	_ = f.read(func(top *bbolt.Bucket) error {
		found = top.Bucket(bucketFinished).Get(idKey(id)) != nil
		return nil
	})
	return found
}

// Found is what the frontier knows of one URL.
type Found struct {
	Entry
	State  State
	Reason judge.Reason
	past   bool // another entry has taken its place
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
	err := f.read(func(top *bbolt.Bucket) error {
		ids := f.seen.index.find(top, len(f.hosts.list), want)
		slices.Sort(ids) // blocks lie by host and class, finds are told by age
		for _, id := range ids {
			// It is another's where the fingerprint is that of a twin.
			if e, ok := f.get(top, id); ok && e.URL == u {
				found = append(found, e)
			}
		}
		if last := len(found) - 1; last > 0 && found[last].past { // two workers found it at once
			slices.Reverse(found)
		}
		return nil
	})
	return found, err
}

// Get looks an id up.
func (f *Frontier) Get(id uint64) (found Found, ok bool) {
	defer f.look()()
	_ = f.read(func(top *bbolt.Bucket) error {
		found, ok = f.get(top, id)
		return nil
	})
	return found, ok
}

// Path is the way from the seed to the URL with the given id, that one last.
func (f *Frontier) Path(id uint64) []Found {
	defer f.look()()
	var path []Found
	_ = f.read(func(top *bbolt.Bucket) error {
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
	for key := range ranges(len(f.hosts.list)) {
		last := c.Prev
		if after, _ := c.Seek(blockKey(key, id+1)); after == nil {
			last = c.Last
		}
		k, v := last()
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
	v := top.Bucket(bucketFinished).Get(idKey(e.ID))
	if e.Class == Disregarded {
		return Found{e, StateDisregarded, e.Reason, v != nil}
	}
	if len(v) < 2 {
		return Found{Entry: e}
	}
	if State(v[0]) > StateDisregarded {
		return Found{Entry: e, State: StateFailed, Reason: judge.Reason{Rule: judge.Unreadable}}
	}
	reason, _ := binary.Uvarint(v[1:])
	found := Found{e, State(v[0]), f.reasons.text(uint32(reason)), State(v[0]) == StateQueued}
	if found.past {
		found.State = StateDisregarded
	}
	return found
}

// Each calls visit for every URL of a class, in the order of discovery, but for entries
// that another has taken the place of: AddAgain let it through, or it was overruled.
func (f *Frontier) Each(class Class, visit func(Found) error) error {
	defer f.look()()
	return f.read(func(top *bbolt.Bucket) error {
		return top.Bucket(bucketBlocks).ForEach(func(k, v []byte) error {
			if q, _ := parseBlockKey(k); q.class.OfLink() != class {
				return nil
			}
			return f.eachOf(top, k, v, func(found Found) error {
				if found.past {
					return nil
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
	return f.read(func(top *bbolt.Bucket) error {
		c := top.Bucket(bucketBlocks).Cursor()
		for host := range f.hosts.list {
			for k, v := range blocksFrom(c, queueKey{uint32(host), Prerequisite}, 0) {
				if err := f.eachOf(top, k, v, func(found Found) error { visit(found); return nil }); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
