package frontier

import (
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"sync"

	"go.etcd.io/bbolt"

	"curtsy/frontier/judge"
)

// index finds the ids of a fingerprint. The first look-ups read all fingerprints from disk, which
// suffices for a single command; after manyFinds of them they are kept sorted in memory, twelve octets
// per URL, and only later fingerprints are read from disk.
type index struct {
	mu    sync.Mutex
	asked int
	ids   []place // sorted by fingerprint
	upTo  uint64  // ids from here on are not in ids
}

type place struct{ high, low, id uint32 }

func (p place) fingerprint() uint64 { return uint64(p.high)<<32 | uint64(p.low) }

const (
	manyFinds = 16      // look-ups that read everything, before the fingerprints are sorted
	manyNew   = 1 << 14 // newer fingerprints; beyond this number and a sixteenth of the rest they are sorted in
)

// find returns the ids whose fingerprint, without its flags, is want.
func (x *index) find(top *bbolt.Bucket, hosts int, want uint64) (ids []uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked++
	i, _ := slices.BinarySearchFunc(x.ids, want,
		func(p place, fp uint64) int { return cmp.Compare(p.fingerprint(), fp) })
	for ; i < len(x.ids) && x.ids[i].fingerprint() == want; i++ {
		ids = append(ids, uint64(x.ids[i].id))
	}
	behind, last := 0, uint64(0)
	for fp, id := range fingerprintsFrom(top, hosts, x.upTo) {
		if behind++; fp&^flagBits == want {
			ids = append(ids, id)
		}
		last = id
	}
	if x.asked > manyFinds && behind > max(manyNew, len(x.ids)/16) && last < math.MaxUint32 {
		x.sort(top, hosts, behind)
	}
	return ids
}

// sort adds the n newer fingerprints to the sorted ones.
func (x *index) sort(top *bbolt.Bucket, hosts, n int) {
	x.ids = slices.Grow(x.ids, n)
	upTo := x.upTo
	for fp, id := range fingerprintsFrom(top, hosts, x.upTo) {
		fp &^= flagBits
		x.ids = append(x.ids, place{uint32(fp >> 32), uint32(fp), uint32(id)})
		upTo = max(upTo, id+1)
	}
	x.upTo = upTo
	slices.SortFunc(x.ids, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.fingerprint(), b.fingerprint()), cmp.Compare(a.id, b.id))
	})
}

// fingerprintsFrom iterates over fingerprints (with flags) and ids from one on, which must be the first
// id of a block.
func fingerprintsFrom(top *bbolt.Bucket, hosts int, from uint64) iter.Seq2[uint64, uint64] {
	return func(yield func(fp, id uint64) bool) {
		c := top.Bucket(bucketSeen).Cursor()
		for key := range ranges(hosts) {
			for k, v := range blocksFrom(c, key, from) {
				_, id := parseBlockKey(k)
				for fp := range fingerprints(v) {
					if !yield(fp, id) {
						return
					}
					id++
				}
			}
		}
	}
}

// fingerprints iterates over the fingerprints in a value.
func fingerprints(v []byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for ; len(v) >= 8; v = v[8:] {
			if !yield(binary.LittleEndian.Uint64(v)) {
				return
			}
		}
	}
}

// ranges iterates over the key ranges of blocks. Disregarded URLs are stored under host 0.
func ranges(hosts int) iter.Seq[queueKey] {
	return func(yield func(queueKey) bool) {
		for host := range max(hosts, 1) {
			for class := Prerequisite; class < judge.NumClasses; class++ {
				if (class != Disregarded || host == 0) && !yield(queueKey{uint32(host), class}) {
					return
				}
			}
		}
	}
}

// blocksFrom iterates over the keys and values of a range, from an id on, which must be the first of a
// block.
func blocksFrom(c *bbolt.Cursor, key queueKey, from uint64) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		for k, v := c.Seek(blockKey(key, from)); k != nil; k, v = c.Next() {
			if of, _ := parseBlockKey(k); of != key || !yield(k, v) {
				return
			}
		}
	}
}
