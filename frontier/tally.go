package frontier

// tally counts URLs by shape: exactly while there are few shapes, then in constant memory with a
// count-min sketch, which may overcount, by about ten in ten million URLs, but never undercounts.
type tally struct {
	few  map[uint64]uint32
	rows [4][]uint32 // nil while few is used
}

const (
	tallyWidth = 1 << 18
	// tallyFew is how many shapes are counted exactly: most sites have fewer and need no table of
	// 4 MB.
	tallyFew = 1 << 13
)

// add adds one to the count of hash and returns it.
func (t *tally) add(hash uint64) int {
	n := t.count(hash) + 1
	t.set(hash, n)
	return n
}

// count returns the count of hash.
func (t *tally) count(hash uint64) int {
	if t.rows[0] == nil {
		return int(t.few[hash])
	}
	least := uint32(1<<32 - 1)
	for i := range t.rows {
		least = min(least, t.rows[i][cell(hash, i)])
	}
	return int(least)
}

// set raises the count of hash to at least n.
func (t *tally) set(hash uint64, n int) {
	if t.rows[0] == nil {
		if t.few == nil {
			t.few = map[uint64]uint32{}
		}
		t.few[hash] = max(t.few[hash], uint32(n))
		if len(t.few) > tallyFew {
			t.spread()
		}
		return
	}
	for i := range t.rows {
		c := &t.rows[i][cell(hash, i)]
		*c = max(*c, uint32(n))
	}
}

// spread moves the counts to the sketch.
func (t *tally) spread() {
	for i := range t.rows {
		t.rows[i] = make([]uint32, tallyWidth)
	}
	few := t.few
	t.few = nil
	for hash, n := range few {
		t.set(hash, int(n))
	}
}

func cell(hash uint64, row int) int {
	return int((hash>>(row*11) ^ hash>>(row*7+20)) & (tallyWidth - 1))
}
