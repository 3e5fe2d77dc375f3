package frontier

import (
	"sync"
)

// Bits of a fingerprint that tell something of its URL.
const (
	softBit   = 1 // it was disregarded softly
	listedBit = 2 // it is queued, and only a sitemap names it so far
	guessBit  = 4 // it is a guess that a script led to, and nothing else so far
	flagBits  = softBit | listedBit | guessBit
)

// seenSet is a set of fingerprints: open addressing over plain uint64s, in
// shards that grow one by one, so that growing never needs twice the memory.
type seenSet struct {
	mu     sync.RWMutex
	shards [16]shard
	index  index // of the same fingerprints, where they lie on disk
}

type shard struct {
	slots []uint64 // a power of two; 0 is empty
	used  int
}

func (s *seenSet) shard(fp uint64) *shard { return &s.shards[fp>>60] }

// find says whether fp is there, and its flags.
func (s *seenSet) find(fp uint64) (found bool, flags uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := s.get(fp)
	return v != 0, v & flagBits
}

func (s *seenSet) get(fp uint64) uint64 {
	sh := s.shard(fp)
	if len(sh.slots) == 0 {
		return 0
	}
	return sh.slots[sh.slot(fp)]
}

// findAll replaces each fingerprint by what the set holds of it, 0 for
// nothing. One lock for all lets the processor wait for many places of a
// large set at a time, in place of one after another.
func (s *seenSet) findAll(fps []uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i, fp := range fps {
		fps[i] = s.get(fp)
	}
}

// set changes a flag of fp, if it is there; it says whether it did.
func (s *seenSet) set(fp, flag uint64, on bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shard(fp)
	if len(sh.slots) == 0 {
		return false
	}
	v := &sh.slots[sh.slot(fp)]
	if *v == 0 || *v&flag != 0 == on {
		return false
	}
	*v ^= flag
	return true
}

// add puts fp in. added is false where fp was there already and stays as it
// is: only a hard find replaces, and overrules, a soft one.
func (s *seenSet) add(fp uint64, soft bool) (added, overruled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sh := s.shard(fp)
	sh.reserve(1)
	i := sh.slot(fp)
	if v := sh.slots[i]; v != 0 {
		if v&softBit == 0 || soft {
			return false, false
		}
		sh.slots[i] = fp
		return true, true
	}
	sh.used++
	sh.slots[i] = fp
	if soft {
		sh.slots[i] |= softBit
	}
	return true, false
}

// slot is where fp is, or the empty place where it belongs.
func (sh *shard) slot(fp uint64) int {
	mask := uint64(len(sh.slots) - 1)
	for i := fp >> 3 & mask; ; i = (i + 1) & mask {
		if v := sh.slots[i]; v == 0 || v&^flagBits == fp {
			return int(i)
		}
	}
}

// reserve makes room for n more, at most four fifths full.
func (sh *shard) reserve(n int) {
	need := (sh.used + n) * 5 / 4
	size := max(len(sh.slots), 64)
	for size < need+1 {
		size *= 2
	}
	if size == len(sh.slots) {
		return
	}
	old := sh.slots
	sh.slots = make([]uint64, size)
	for _, v := range old {
		if v != 0 {
			sh.slots[sh.slot(v&^flagBits)] = v
		}
	}
}

// size is how many fingerprints there are.
func (s *seenSet) size() (n int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := range s.shards {
		n += s.shards[i].used
	}
	return n
}

// grow prepares for n fingerprints in all.
func (s *seenSet) grow(n int) {
	for i := range s.shards {
		s.shards[i].reserve(n / len(s.shards))
	}
}
