package frontier

import (
	"sync"
)

// Flag bits of a fingerprint.
const (
	softBit   = 1 // softly disregarded
	listedBit = 2 // queued, and known from a sitemap only
	guessBit  = 4 // known only as a guess from a script
	flagBits  = softBit | listedBit | guessBit
)

// seenSet is a set of fingerprints with open addressing. Its shards grow one by one, so that growing never
// needs twice the memory.
type seenSet struct {
	mu     sync.RWMutex
	shards [16]shard
	index  index // of the same fingerprints, with their ids on disk
}

type shard struct {
	slots []uint64 // the length is a power of two; 0 is empty
	used  int
}

func (s *seenSet) shard(fp uint64) *shard { return &s.shards[fp>>60] }

// find reports whether fp is in the set, and its flags.
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

// findAll replaces each fingerprint by the set's value for it, 0 for none. Under a single lock the
// processor can wait for several cache misses at a time.
func (s *seenSet) findAll(fps []uint64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i, fp := range fps {
		fps[i] = s.get(fp)
	}
}

// set changes a flag of fp if fp is in the set, and reports whether it changed.
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

// add adds fp. added is false if fp was there already; only a hard find replaces, and overrules, a soft
// one.
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

// slot returns the index of fp, or the empty slot for it.
func (sh *shard) slot(fp uint64) int {
	mask := uint64(len(sh.slots) - 1)
	for i := fp >> 3 & mask; ; i = (i + 1) & mask {
		if v := sh.slots[i]; v == 0 || v&^flagBits == fp {
			return int(i)
		}
	}
}

// reserve makes room for n more at a load of at most four fifths.
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

// size returns the number of fingerprints.
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
