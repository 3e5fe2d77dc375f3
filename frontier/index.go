package frontier

import (
	"cmp"
	"encoding/binary"
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
	eachFingerprint(top, hosts, x.upTo, func(fp, id uint64) {
		if behind++; fp == want {
			ids = append(ids, id)
		}
		last = id
	})
	if x.asked > manyFinds && behind > max(manyNew, len(x.ids)/16) && last < math.MaxUint32 {
		x.sort(top, hosts, behind)
	}
	return ids
}

// sort takes in the n fingerprints behind those that are sorted.
func (x *index) sort(top *bbolt.Bucket, hosts, n int) {
	x.ids = slices.Grow(x.ids, n)
	upTo := x.upTo
	eachFingerprint(top, hosts, x.upTo, func(fp, id uint64) {
		x.ids = append(x.ids, place{uint32(fp >> 32), uint32(fp), uint32(id)})
		upTo = max(upTo, id+1)
	})
	x.upTo = upTo
	slices.SortFunc(x.ids, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.fingerprint(), b.fingerprint()), cmp.Compare(a.id, b.id))
	})
}

// eachFingerprint reads those of the ids from one on, which a block begins with.
func eachFingerprint(top *bbolt.Bucket, hosts int, from uint64, visit func(fp, id uint64)) {
	c := top.Bucket(bucketSeen).Cursor()
	for host := range max(hosts, 1) {
		for class := Prerequisite; class < judge.NumClasses; class++ {
			if class == Disregarded && host > 0 {
				continue
			}
			key := queueKey{uint32(host), class}
			for k, v := c.Seek(blockKey(key, from)); k != nil; k, v = c.Next() {
				of, first := parseBlockKey(k)
				if of != key {
					break
				}
				for i := 0; i+8 <= len(v); i += 8 {
					visit(binary.LittleEndian.Uint64(v[i:])&^flagBits, first+uint64(i/8))
				}
			}
		}
	}
}
