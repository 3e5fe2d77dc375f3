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

// index finds the ids of a fingerprint. The first look-ups read all fingerprints,
// as one at a prompt does; who goes on asking has them sorted in memory, twelve
// octets a URL, and what was discovered since is read behind them.
type index struct {
	mu    sync.Mutex
	asked int
	ids   []place // sorted by fingerprint
	upTo  uint64  // no id from here on is in ids
}

type place struct{ high, low, id uint32 }

func (p place) fingerprint() uint64 { return uint64(p.high)<<32 | uint64(p.low) }

const (
	manyFinds = 16      // look-ups that read all, before they are sorted
	manyNew   = 1 << 14 // discovered since; beyond it, and a sixteenth of all, they are sorted again
)

// find gives the ids whose fingerprint, without its flags, is want.
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

// sort takes in the n fingerprints behind those that are sorted.
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

// fingerprintsFrom gives those of the ids from one on, which a block begins with, and their flags.
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

// fingerprints are those of a value.
func fingerprints(v []byte) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for ; len(v) >= 8; v = v[8:] {
			if !yield(binary.LittleEndian.Uint64(v)) {
				return
			}
		}
	}
}

// ranges are those of the keys of blocks. What was decided against lies under no host.
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

// blocksFrom are the keys and values of a range, from an id on that a block begins with.
func blocksFrom(c *bbolt.Cursor, key queueKey, from uint64) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		for k, v := c.Seek(blockKey(key, from)); k != nil; k, v = c.Next() {
			if of, _ := parseBlockKey(k); of != key || !yield(k, v) {
				return
			}
		}
	}
}
