package mapped

import "testing"

func TestHugeLeavesATableAsItIs(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 10, 3 << 18, 1 << 20} {
		table := make([]uint64, n)
		for i := range table {
			table[i] = uint64(i)
		}
		Huge(table)
		for i, v := range table {
			if v != uint64(i) {
				t.Fatalf("place %d of %d holds %d", i, n, v)
			}
		}
	}
}
