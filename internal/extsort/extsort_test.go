package extsort

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

func TestSorted(t *testing.T) {
	for _, size := range []int{1, 100, 1 << 20} {
		dir := t.TempDir()
		s := New(dir)
		s.size = size
		var want [][]byte
		r := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			text := fmt.Appendf(nil, "%d\n\x00%d", r.IntN(100), r.IntN(10))
			want = append(want, text)
			if err := s.Add(text); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, bytes.Compare)
		for range 2 { // it can be read again
			var got [][]byte
			for text, err := range s.Sorted() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, bytes.Clone(text))
			}
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Fatalf("run size %d: %d lines are not in order", size, len(got))
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("run size %d: %d files are left", size, len(left))
		}
	}
}
