package htmlmeta

// indexSet is a hash set of indexes into a list that its user keeps. Open
// addressing; emptied without giving its memory back.
type indexSet struct {
	slots []indexSlot
	n     int
}

type indexSlot struct {
	hash  uint32 // its lower half
	index uint32 // plus one; 0 is empty
}

const minSlots = 256

// find looks for an element of that hash that same accepts.
func (s *indexSet) find(hash uint64, same func(index int) bool) (int, bool) {
	if len(s.slots) == 0 {
		return 0, false
	}
	for i := uint32(hash); ; i++ {
		slot := &s.slots[i&uint32(len(s.slots)-1)]
		if slot.index == 0 {
			return 0, false
		}
		if index := int(slot.index) - 1; slot.hash == uint32(hash) && same(index) {
			return index, true
		}
	}
}

// insert adds an index that find has not found.
func (s *indexSet) insert(hash uint64, index int) {
	if 2*s.n >= len(s.slots) {
		s.grow()
	}
	s.place(indexSlot{uint32(hash), uint32(index) + 1})
	s.n++
}

func (s *indexSet) place(e indexSlot) {
	i := e.hash
	for s.slots[i&uint32(len(s.slots)-1)].index != 0 {
		i++
	}
	s.slots[i&uint32(len(s.slots)-1)] = e
}

func (s *indexSet) grow() {
	old := s.slots
	s.slots = make([]indexSlot, max(2*len(old), minSlots))
	for _, e := range old {
		if e.index != 0 {
			s.place(e)
		}
	}
}

// clear empties the set; one that a huge page has grown is given up.
func (s *indexSet) clear() {
	if len(s.slots) > 16*minSlots {
		s.slots = nil
	} else if s.n > 0 {
		clear(s.slots)
	}
	s.n = 0
}
