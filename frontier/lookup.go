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

// load reads what a restart needs: totals, names, fingerprints, positions, counts by shape.
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

// opened wraps load for values with checksums.
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

// whole returns the frontier's bucket after checking that it is complete.
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

// readListed reads the fingerprints of the URLs that are known from a sitemap only.
func (f *Frontier) readListed() map[uint64]bool {
	listed := map[uint64]bool{}
	_ = f.read(func(top *bbolt.Bucket) error {
		_ = top.Bucket(bucketSeen).ForEach(func(_, v []byte) error {
			for fp := range fingerprints(v) {
				if fp&listedBit != 0 {
					listed[fp&^flagBits] = true
				}
			}
			return nil
		})
		return top.Bucket(bucketLinked).ForEach(func(_, v []byte) error {
			for fp := range fingerprints(v) {
				delete(listed, fp&^flagBits)
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
	e := retryEntry(k, v)
	if q := f.queues[e.at.queueKey]; q == nil || e.ID >= q.mark.first+uint64(q.mark.index) {
		f.putOff[e.ID] = true
	}
	return nil
}

func (f *Frontier) loadQueue(k, v []byte) error {
	if len(k) != 5 || len(v) < 10 || Class(k[4]) == Disregarded || Class(k[4]) >= judge.NumClasses {
		return ErrCorrupt
	}
	d := decoder{b: v[8:]}
	at := position{queueKey{binary.BigEndian.Uint32(k), Class(k[4])}, binary.BigEndian.Uint64(v), int(d.uvarint())}
	f.queues[at.queueKey] = &queue{next: at, mark: at, waiting: int(d.uvarint())}
	if d.bad {
		return ErrCorrupt
	}
	return nil
}

// read calls look with the frontier's bucket in a read transaction.
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

// Found is the entry of a URL with its state.
type Found struct {
	Entry
	State  State
	Reason judge.Reason
	past   bool // another entry has replaced it
}

// look locks the frontier for a look-up. Look-ups may be nested if it is read-only.
func (f *Frontier) look() (done func()) {
	if f.isRead {
		f.mu.RLock()
		return f.mu.RUnlock
	}
	f.mu.Lock()
	return f.mu.Unlock
}

// Find returns all entries of a URL, oldest first. A softly disregarded entry (nofollow) may come before
// the one that counts. Uncommitted entries are not found.
func (f *Frontier) Find(u weburl.URL) ([]Found, error) {
	defer f.look()()
	want := f.fingerprint(u.String())
	var found []Found
	err := f.read(func(top *bbolt.Bucket) error {
		ids := f.seen.index.find(top, len(f.hosts.list), want)
		slices.Sort(ids) // blocks are ordered by host and class
		for _, id := range ids {
			// The fingerprint of a twin, stored after those of the block's links, leads to an entry of another URL.
			if e, ok := f.get(top, id); ok && e.URL == u {
				found = append(found, e)
			}
		}
		if last := len(found) - 1; last > 0 && found[last].past { // two workers found it at the same time
			slices.Reverse(found)
		}
		return nil
	})
	return found, err
}

// Get returns the entry with an id.
func (f *Frontier) Get(id uint64) (found Found, ok bool) {
	defer f.look()()
	_ = f.read(func(top *bbolt.Bucket) error {
		found, ok = f.get(top, id)
		return nil
	})
	return found, ok
}

// Path returns the entries from the seed to the given id, that one last.
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

// get looks in each key range for the block that begins at or before id.
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
		p := position{key, first, int(id - first)}
		l, err := f.decodeOne(k, v, p.index)
		if err != nil {
			return Found{}, false
		}
		return f.judged(top, *p.entry(l)), true
	}
	return Found{}, false
}

// judged adds to an entry what became of it.
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

// Each calls visit for every entry of a class, in order of discovery, except entries that another has
// replaced.
func (f *Frontier) Each(class Class, visit func(Found) error) error {
	defer f.look()()
	return f.read(func(top *bbolt.Bucket) error {
		return top.Bucket(bucketBlocks).ForEach(func(k, v []byte) error {
			q, first := parseBlockKey(k)
			if q.class.OfLink() != class {
				return nil
			}
			links, err := f.decodeBlock(k, v)
			for i, l := range links {
				found := f.judged(top, *position{q, first, i}.entry(l))
				if found.past {
					continue
				}
				if err := visit(found); err != nil {
					return err
				}
			}
			return err
		})
	})
}

// Audit reads every entry, calls visit for each, and returns the totals that Counts should report,
// except those by reason. It must not run during a crawl.
func (f *Frontier) Audit(visit func(Found)) (c Counts, err error) {
	// All that a restart reads must be readable too.
	if err := f.view(newFrontier(f.view, [16]byte{}).load); err != nil {
		return c, err
	}
	for class := Prerequisite; class < judge.NumClasses && err == nil; class++ {
		err = f.Each(class, func(found Found) error {
			c.Discovered++
			c.add(found.State, found.Reason, 1)
			visit(found)
			return nil
		})
	}
	n := f.Counts().Reasons[overruled] // overruled entries were counted above, too
	c.Discovered -= n
	c.Disregarded -= n
	return c, err
}
