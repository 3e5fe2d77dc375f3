package storage

import (
	"slices"
	"testing"
)

// Where int has 32 bits (GOARCH=386, as in CI) the distance between two extents may overflow it.
func TestExtentsAreInOrderWhereverTheyLie(t *testing.T) {
	list := []extent{{offset: 5 << 30}, {offset: 0}, {offset: 3 << 30}, {offset: 1}}
	slices.SortFunc(list, byOffset)
	for i, want := range []int64{0, 1, 3 << 30, 5 << 30} {
		if list[i].offset != want {
			t.Errorf("%d: %d, want %d", i, list[i].offset, want)
		}
	}
}
