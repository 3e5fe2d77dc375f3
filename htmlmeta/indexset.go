package htmlmeta

// indexSet is a hash set of indexes into a list that the caller keeps.
type indexSet struct{ at map[uint64]int32 }

// maxSlots is the size from which on clear discards the map instead of emptying it.
const maxSlots = 1 << 11

// find looks for an element with this hash that same accepts. Collisions use the next hash
// values.
func (s *indexSet) find(hash uint64, same func(index int) bool) (int, bool) {
	for ; ; hash++ {
		index, ok := s.at[hash]
		if !ok || same(int(index)) {
			return int(index), ok
		}
	}
}

// insert adds an index that find did not find.
func (s *indexSet) insert(hash uint64, index int) {
	if s.at == nil {
		s.at = map[uint64]int32{}
	}
	for _, taken := s.at[hash]; taken; _, taken = s.at[hash] {
		hash++
	}
	s.at[hash] = int32(index)
}

// clear empties the set.
func (s *indexSet) clear() {
	if len(s.at) > maxSlots {
		s.at = nil
	}
	clear(s.at)
}
